/**
 * Elements, made from names, attributes and text. Text never becomes markup.
 */

/** Return an HTML element. Attributes that are null or false are left out. */
export function h(name, attributes, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/** Return an SVG element. */
export function s(name, attributes, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Return a text that may be broken after underscores, as names in code must be. */
export function breakable(text) {
  return text.split(/(?<=_)/).flatMap((part, at) => (at ? [h("wbr"), part] : [part]));
}

/** Return a query in pieces: a condition goes to a new line, with its "!", rather than being broken. */
export function unbroken(query) {
  return query.split(/([!(]*\[[^[\]]*\]\)*)/).map((part) => (part.includes("[") ? h("span", {}, part) : part));
}

/** Return a button that does something. */
export function button(text, act, attributes) {
  return h("button", { type: "button", click: act, ...attributes }, text);
}

/** Tell those who listen to the page. */
export function announce(text) {
  document.getElementById("live").textContent = text;
}
