/**
 * The columns of a table: a line each, which opens into an editor.
 */

import { announce, button, h } from "./dom.js";
import { editor } from "./editor.js";
import { preview } from "./scale.js";
import { ask } from "./talk.js";
import { counted, kindWords } from "./words.js";

const PAUSE = 150;

/** One column: what was declared, what has been changed, and how it looks. */
export class Column {
  constructor(side, told, edited) {
    this.side = side;
    this.told = told;
    this.now = told;
    this.row = null;
    this.asked = 0;
    this.edited = edited;
    this.id = `${side}-${told.number}`;
    this.toggle = h("button", {
      type: "button", class: "line", "aria-expanded": "false", "aria-controls": `${this.id}-editor`,
      click: () => this.open(!this.isOpen),
    });
    this.inside = h("div", { class: "editor", id: `${this.id}-editor`, hidden: true, keydown: (event) => this.escape(event) });
    this.element = h("li", { class: "column" }, this.toggle, this.inside);
    this.summarise();
  }

  get isOpen() {
    return !this.inside.hidden;
  }

  get isChanged() {
    return this.row !== null && JSON.stringify(this.row) !== JSON.stringify(this.told.row);
  }

  get isUsed() {
    return (this.row ?? this.told.row).use;
  }

  /** Return whether a filter lets the column through. */
  matches(text, which) {
    const row = this.row ?? this.told.row;
    if (text && !`${this.told.name} ${row.title}`.toLowerCase().includes(text)) return false;
    return {
      all: true,
      data: this.now.fromData.length > 0,
      problems: this.now.problems.length > 0,
      unused: !this.isUsed,
      changed: this.isChanged,
    }[which];
  }

  open(wanted, focus = true) {
    if (wanted) this.edit();
    this.inside.hidden = !wanted;
    this.toggle.setAttribute("aria-expanded", String(wanted));
    if (wanted && focus) this.inside.querySelector("input, select, textarea")?.focus();
  }

  escape(event) {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    this.open(false);
    this.toggle.focus();
  }

  /** Fill the editor; again if other parts belong to the column now. */
  edit() {
    this.row ??= structuredClone(this.told.row);
    this.facts = h("div", { class: "facts" });
    this.takeBack = h("p", { class: "undo" }, button("Undo changes to this column", () => this.undo(), { class: "quiet" }));
    const form = editor(this.id, this.row, (again) => this.changed(again));
    this.inside.replaceChildren(form, this.facts, this.takeBack);
    this.explain();
  }

  changed(again) {
    if (again) {
      const focused = document.activeElement?.id;
      this.edit();
      if (focused) document.getElementById(focused)?.focus();
    }
    this.takeBack.hidden = !this.isChanged;
    this.edited();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(), PAUSE);
  }

  /** Wait for no answer any more. */
  leave() {
    this.asked += 1;
    clearTimeout(this.timer);
  }

  undo() {
    this.row = null;
    this.leave();
    this.now = this.told;
    this.edit();
    this.summarise();
    this.edited();
    this.inside.querySelector("input")?.focus();
    announce(`${this.told.name}: as it was`);
  }

  /** Ask what the column would be now. Only the latest answer counts. */
  async ask() {
    this.asked += 1;
    const mine = this.asked;
    try {
      const told = await ask("/preview", { side: this.side, number: this.told.number, row: this.row });
      if (mine === this.asked) this.show(told);
    } catch (error) {
      if (mine === this.asked) this.show({ ...this.now, problems: [error.message] });
    }
    if (mine === this.asked) this.edited();
  }

  show(told) {
    this.now = told;
    this.summarise();
    if (this.isOpen) this.explain();
    const declared = this.row.use ? told.summary || kindWords(this.row.kind) : "not used";
    announce(`${this.told.name}: ${told.problems[0] ?? declared}`);
  }

  /** Show problems that saving found. */
  complain(problems) {
    this.now = { ...this.now, problems };
    this.summarise();
    if (this.isOpen) this.explain();
  }

  summarise() {
    const row = this.row ?? this.told.row;
    const { problems, fromData, summary } = this.now;
    const marks = [];
    if (problems.length) marks.push(h("span", { class: "mark wrong" }, counted(problems.length, "problem")));
    if (fromData.length) marks.push(h("span", { class: "mark data" }, `${fromData.length} from the data`));
    if (this.isChanged) marks.push(h("span", { class: "mark" }, "changed"));
    this.toggle.replaceChildren(
      h("span", { class: "name" }, h("bdi", {}, this.told.name), row.title ? h("small", {}, h("bdi", {}, row.title)) : null),
      h("span", { class: "kind" }, row.use ? kindWords(row.kind) : "not used"),
      h("span", { class: "summary" }, h("bdi", {}, row.use ? summary : "")),
      h("span", { class: "marks" }, ...marks),
    );
    this.element.classList.toggle("unused", !row.use);
  }

  explain() {
    const { problems, fromData, points } = this.now;
    const parts = [];
    if (problems.length) {
      parts.push(h("ul", { class: "wrong", role: "alert" }, ...problems.map((text) => h("li", {}, text))));
    }
    if (this.row.use && points.length) parts.push(preview(points, this.row));
    if (fromData.length) {
      parts.push(
        h("div", { class: "data" },
          h("p", {}, "Still as taken from the data, and will be public. Replace it with what you knew before:"),
          h("ul", {}, ...fromData.map((text) => h("li", {}, text)))),
      );
    }
    this.facts.replaceChildren(...parts);
    this.takeBack.hidden = !this.isChanged;
  }
}
