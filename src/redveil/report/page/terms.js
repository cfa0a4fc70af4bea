/**
 * Explanations of words: shown while a pointer or the focus is on them, hidden by Escape.
 */

import { h } from "./dom.js";

/** Let every link to the glossary show what it says there. */
export function explainTerms() {
  const note = h("div", { id: "note", class: "note", role: "tooltip", hidden: true });
  document.body.append(note);
  let current = null;
  const hide = () => {
    note.hidden = true;
    current?.removeAttribute("aria-describedby");
    current = null;
  };
  const show = (link) => {
    const entry = document.getElementById(link.hash.slice(1));
    if (entry === null || link === current) return;
    hide();
    current = link;
    note.textContent = entry.nextElementSibling.textContent;
    note.hidden = false;
    link.setAttribute("aria-describedby", "note");
    const [box, size] = [link.getBoundingClientRect(), note.getBoundingClientRect()];
    const most = document.documentElement.clientWidth - size.width - 12;
    const above = box.top > size.height + 16;
    note.style.left = `${Math.max(12, Math.min(box.left, most)) + window.scrollX}px`;
    note.style.top = `${(above ? box.top - size.height - 8 : box.bottom + 8) + window.scrollY}px`;
  };
  const linkOf = (event) => event.target.closest?.("a.term") ?? null;
  for (const [begin, end] of [
    ["pointerover", "pointerout"],
    ["focusin", "focusout"],
  ]) {
    document.addEventListener(begin, (event) => linkOf(event) && show(linkOf(event)));
    document.addEventListener(end, (event) => linkOf(event) && hide());
  }
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
}
