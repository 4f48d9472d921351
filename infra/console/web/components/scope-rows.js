// A field for the scopes of a resource: rows with a name and a description.

import { fill, h, newId } from "../core/dom.js";
import { resources as words } from "../texts-oauth-resources.js";
import { button } from "./parts.js";

/** The type of the field; see `TYPES` in `form.js`. */
export const scopeRows = {
  isGroup: true,
  make: () => new ScopeRows().element,
  put: (scopes) => scopes ?? [],
  take: (scopes) => scopes,
  inputAt: (element, path) => element.inputAt(path),
};

class ScopeRows {
  #rows = [];
  #list = h("div", { class: "scope-rows" });
  #none = h("p", { class: "muted small" }, words.noScopes);
  #add = button(words.addScope, () => this.#added(), { class: "small-button" });

  constructor() {
    this.element = h("div", {}, this.#none, this.#list, this.#add);
    Object.defineProperty(this.element, "value", { get: () => this.#filled.map(valueOf), set: (scopes) => this.#put(scopes) });
    this.element.inputAt = (path) => this.#inputAt(path);
  }

  /** The rows that are not empty. */
  get #filled() {
    return this.#rows.filter((row) => Object.values(valueOf(row)).some(Boolean));
  }

  /** The input that a problem is about, such as `scopes[2].name`. */
  #inputAt(path) {
    const [, number, name] = /\[(\d+)\]\.(\w+)$/.exec(path) ?? [];
    return this.#filled[number]?.[name];
  }

  #put(scopes) {
    this.#rows = scopes.map((scope) => this.#row(scope));
    this.#draw();
  }

  #draw() {
    this.#none.hidden = this.#rows.length > 0;
    fill(
      this.#list,
      this.#rows.map(({ element }) => element),
    );
  }

  #row(scope) {
    const input = (name, label, placeholder) => {
      const id = newId("scope");
      const made = h("input", { id, value: scope[name] ?? "", placeholder, autocomplete: "off", spellcheck: name === "description" ? "true" : "false" });
      return [made, h("div", { class: name }, h("label", { for: id }, label), made)];
    };
    const [name, nameBox] = input("name", words.scopeName, words.scopeNameExample);
    const [description, descriptionBox] = input("description", words.scopeDescription, words.scopeDescriptionExample);
    const row = { name, description };
    const remove = button("×", () => this.#removed(row), { class: "quiet", title: words.removeScope });
    // The name of a new row is not known yet.
    const labelled = () => remove.setAttribute("aria-label", `${words.removeScope} ${name.value}`.trim());
    name.addEventListener("input", labelled);
    labelled();
    row.element = h("div", { class: "input-row scope-row" }, nameBox, descriptionBox, remove);
    return row;
  }

  #added() {
    const row = this.#row({});
    this.#rows.push(row);
    this.#none.hidden = true;
    this.#list.append(row.element);
    row.name.focus();
    this.#changed();
  }

  #removed(row) {
    const index = this.#rows.indexOf(row);
    this.#rows.splice(index, 1);
    this.#draw();
    (this.#rows[index]?.name ?? this.#add).focus();
    this.#changed();
  }

  #changed() {
    this.element.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

const valueOf = ({ name, description }) => ({ name: name.value.trim(), description: description.value.trim() });
