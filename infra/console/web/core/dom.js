// Builds elements. Texts become text nodes, so data from the API is never parsed as markup.

const SVG = new Set(["svg", "path", "rect", "g", "title", "line"]);

/**
 * An element with attributes and children. Attributes named `on…` are listeners. Skips attributes
 * and children that are `false`, `null` or `undefined`.
 */
export function h(tag, attributes = {}, ...children) {
  const element = SVG.has(tag) ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked") element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...nodes(children));
  return element;
}

function nodes(children) {
  return children.flat(Infinity).filter((child) => child !== false && child !== null && child !== undefined);
}

/** Replaces the children of an element. */
export function fill(element, ...children) {
  element.replaceChildren(...nodes(children));
  return element;
}

let ids = 0;

/** A unique id for an element. */
export function newId(name = "id") {
  ids += 1;
  return `${name}-${ids}`;
}

/** Tells screen readers what happened. */
export function say(text) {
  const said = document.querySelector("#said");
  if (said) said.textContent = text;
}
