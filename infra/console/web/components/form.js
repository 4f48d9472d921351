// Forms, which show the problems reported by the API beside the fields, and keep all input. Edit
// forms send only changed values, and ask before they overwrite changes that someone else has made
// in the meantime.

import { isStale, MAX_ATTEMPTS } from "../core/api.js";
import { fill, h, newId, say } from "../core/dom.js";
import { duration } from "../core/format.js";
import { changed, conflicts, lines, nested, parsed, printed } from "../core/values.js";
import { texts as t } from "../texts.js";
import { showConflicts } from "./dialog.js";
import { button, curlButton, failure, shown } from "./parts.js";

/**
 * The control of each type of field, and how to set and read its value. `Field` itself handles the
 * types `switch`, `choices` and `radio`. Instead of a name, a field's type may be an object with
 * the same methods. If it has `isGroup`, its inputs have their own labels, and are in elements of
 * the class `input-row`; `inputAt(control, path)` is the input that a problem is about.
 */
const TYPES = {
  text: {
    make: (field, id) =>
      h("input", {
        id,
        type: field.input ?? "text",
        autocomplete: field.autocomplete ?? "off",
        spellcheck: "false",
        required: field.required,
        placeholder: field.placeholder,
      }),
    put: (value) => value ?? "",
    take: (text, field) => (text === "" && field.nullable ? null : text),
  },
  number: {
    make: (field, id) =>
      h("input", {
        id,
        class: "short",
        type: "number",
        min: field.min,
        max: field.max,
        step: "1",
        inputmode: "numeric",
        required: field.required,
      }),
    put: (value) => value ?? "",
    take: (text) => (text === "" ? null : Number(text)),
  },
  long: {
    make: (field, id) =>
      h("textarea", {
        id,
        rows: field.rows ?? 4,
        spellcheck: "false",
        class: field.isProse ? "prose-input" : null,
        required: field.required,
      }),
    put: (value) => value ?? "",
    take: (text, field) => (text === "" && field.nullable ? null : text),
  },
  lines: {
    make: (field, id) => h("textarea", { id, rows: 4, spellcheck: "false", placeholder: field.placeholder }),
    put: (value) => (value ?? []).join("\n"),
    take: lines,
  },
  json: { make: (field, id) => h("textarea", { id, rows: field.rows ?? 3, spellcheck: "false" }), put: printed, take: parsed },
  choice: {
    make: (field, id) =>
      h(
        "select",
        { id },
        field.options.map(([value, text]) => h("option", { value }, text)),
      ),
    put: (value) => value ?? "",
    take: (text, field) => (text === "" && field.nullable ? null : text),
  },
};

const REFUSED = Symbol("refused");

class Field {
  /** The whole field. */
  box = null;
  /** The input that the problem is about. */
  wrong = null;

  constructor(field, value) {
    this.field = field;
    this.id = newId("field");
    // `TYPES` does not contain the types that `Field` itself handles.
    this.type = typeof field.type === "object" ? field.type : TYPES[field.type ?? "text"];
    this.problem = h("span", { class: "problem", id: `${this.id}-problem`, role: "alert", hidden: true });
    this.unit = field.isDuration && h("output", { class: "muted small unit" });
    this.control = this.#control();
    if (this.unit) this.control.addEventListener("input", () => this.#measure());
    this.put(value);
  }

  #control() {
    const { field, id } = this;
    if (this.type) return this.type.make(field, id);
    if (field.type === "switch") return h("input", { id, type: "checkbox" });
    const [kind, type] = field.type === "radio" ? ["radios", "radio"] : ["choices", "checkbox"];
    return h(
      "div",
      { class: kind },
      field.options.map(([value, text, help]) =>
        h("label", {}, h("input", { type, name: type === "radio" && id, value }), " ", h("span", {}, text, help && h("small", {}, help))),
      ),
    );
  }

  put(value) {
    if (this.type) this.control.value = this.type.put(value);
    else if (this.field.type === "switch") this.control.checked = Boolean(value);
    else for (const box of this.control.querySelectorAll("input")) box.checked = [value ?? []].flat().includes(box.value);
    if (this.unit) this.#measure();
  }

  #measure() {
    this.unit.textContent = this.control.value > 0 ? `= ${duration(Number(this.control.value))}` : "";
  }

  get value() {
    if (this.type) return this.type.take(this.control.value, this.field);
    if (this.field.type === "switch") return this.control.checked;
    const found = [...this.control.querySelectorAll("input:checked")].map((box) => box.value);
    return this.field.type === "radio" ? (found[0] ?? "") : found;
  }

  /** The element that takes the input, or the first of them. */
  get input() {
    return this.control.matches("div") ? (this.control.querySelector("input") ?? this.control.querySelector("button")) : this.control;
  }

  /** Shows or clears the field's problem, which may be about one of its lines or inputs. */
  complain(text, { line, path } = {}) {
    this.problem.hidden = !text;
    fill(this.problem, line !== undefined && [shown(line, { max: 80 }), " "], text);
    if (this.type?.inputAt) {
      const found = text && this.type.inputAt(this.control, path);
      (found?.closest(".input-row") ?? this.box).append(this.problem);
      this.#mark(text && (found ?? this.input));
    } else {
      this.#mark(text && this.input);
    }
  }

  /** Marks the input that the problem is about; none if there is no problem. */
  #mark(input) {
    for (const name of ["aria-invalid", "aria-errormessage"]) this.wrong?.removeAttribute(name);
    this.wrong = input || null;
    this.wrong?.setAttribute("aria-invalid", "true");
    this.wrong?.setAttribute("aria-errormessage", this.problem.id);
  }

  get element() {
    this.box = this.#element();
    return this.box;
  }

  #element() {
    const { field, id, control } = this;
    const isGroup = field.type === "choices" || field.type === "radio" || this.type?.isGroup;
    const help = field.help && h("small", { id: `${id}-help` }, field.help);
    if (field.help && !isGroup) this.input.setAttribute("aria-describedby", `${id}-help`);
    if (field.type === "switch")
      return h("div", { class: "field switch-field" }, h("label", { for: id }, control, " ", field.label), help, this.problem);
    if (isGroup)
      return h(
        "fieldset",
        { class: "field", "aria-describedby": field.help && `${id}-help` },
        h("legend", {}, field.label),
        control,
        help,
        this.problem,
      );
    return h("div", { class: "field" }, h("label", { for: id }, field.label), control, this.unit, help, this.problem);
  }
}

/** Options for a form that edits a resource. */
export const saves = (resource) => ({
  verb: t.save,
  reread: () => resource.read(),
  send: (body) => resource.change(body),
  request: (body) => resource.request(body),
});

/** Options for a form that posts `body(values)`. */
export const posts = (api, place, body = (given) => given) => ({
  send: (...given) => api.post(place, body(...given)),
  request: (...given) => api.request("POST", place, { body: body(...given) }),
});

/**
 * A form.
 *
 * - `fields` have a name (the path in the request's body), label, help and type; fields with
 *   `when(values)` are shown only while `when` returns true; `refusal` replaces the API's
 *   description of a problem;
 * - `values` to edit; without them, the form creates or sends something;
 * - `reread()` returns the current values, with which the form is compared before saving; `send`
 *   must fail if these values are outdated;
 * - `send(body, values, changes)` makes the change, where `values` and `changes` have the paths of
 *   fields as names; `request` takes the same arguments, and returns the request for copying as a
 *   curl command;
 * - `done(answer, values)` is called after success.
 */
export function form({ fields, values, reread, send, request, done, verb, cancel, extra }) {
  const isChange = values !== undefined;
  let baseline = values ?? {};
  const parts = new Map(fields.map((field) => [field.name, new Field(field, isChange ? baseline[field.name] : field.initial)]));
  const boxes = new Map([...parts].map(([name, part]) => [name, part.element]));
  let initial = snapshot();
  reveal();
  const problem = h("div");
  const submit = h("button", { class: "main" }, verb);

  function snapshot() {
    return JSON.stringify([...parts.values()].map((part) => (part.type ? part.control.value : part.value)));
  }

  /** Shows the fields whose `when` holds for the values in the form, and hides the others. */
  function reveal() {
    const plain = [...parts].filter(([, part]) => part.field.type !== "json");
    const values = Object.fromEntries(plain.map(([name, part]) => [name, part.value]));
    for (const [name, part] of parts) boxes.get(name).hidden = Boolean(part.field.when && !part.field.when(values));
  }

  /** The values of all fields; `null` if a field has no valid value. */
  function collected() {
    const found = {};
    let first = null;
    for (const [name, part] of parts) {
      try {
        found[name] = part.value;
        part.complain(null);
      } catch {
        part.complain(t.notJson);
        first ??= part;
      }
    }
    first?.input.focus();
    return first ? null : found;
  }

  /**
   * The values for creating something, without hidden fields and, unless they have `isSent`,
   * without empty fields.
   */
  const given = (found) =>
    Object.fromEntries(
      Object.entries(found).filter(([name, value]) => {
        const { field } = parts.get(name);
        if (boxes.get(name).hidden) return false;
        return field.isSent ?? (value !== null && value !== "" && !(Array.isArray(value) && !value.length));
      }),
    );

  const changes = (found) => (isChange ? changed(baseline, found) : given(found));
  const sent = (found) => [nested(changes(found)), found, changes(found)];

  function complain(error) {
    const unknown = { ...error.fields };
    let first = null;
    for (const [name, part] of parts) {
      const key = Object.keys(unknown).find((path) => path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`));
      const [, number] = (part.field.type === "lines" && /\[(\d+)\]$/.exec(key ?? "")) || [];
      part.complain(key && (part.field.refusal || unknown[key]), { line: number && part.value[number], path: key });
      if (key) {
        delete unknown[key];
        boxes.get(name).hidden = false;
        first ??= part;
      }
    }
    const isExplained = first && !Object.keys(unknown).length;
    fill(problem, isExplained ? null : failure(error));
    (first?.wrong ?? problem.firstChild)?.focus?.();
  }

  /** Whether to save: nobody else has changed the same fields, or the user overwrites them. */
  async function isCurrent(found) {
    if (!reread) return true;
    const now = await reread();
    if (!isChange) return true;
    const mine = changes(found);
    const clashes = conflicts(baseline, mine, now);
    if (!clashes.length) return true;
    const choice = await showConflicts(clashes, (name) => parts.get(name)?.field.label ?? name);
    if (choice === "theirs") {
      const taken = new Set(clashes.map(({ name }) => name));
      for (const [name, part] of parts) if (taken.has(name) || !Object.hasOwn(mine, name)) part.put(now[name]);
      baseline = now;
      marked();
    }
    return choice === "mine";
  }

  /** Shows the saved values, including changes made by others in the meantime. */
  async function settle() {
    if (isChange && reread) {
      baseline = await reread();
      for (const [name, part] of parts) part.put(baseline[name]);
    }
    initial = snapshot();
    marked();
  }

  /** The response to the change; `REFUSED` if the user keeps the others' changes. */
  async function tried(found) {
    for (let attempt = 1; ; attempt++) {
      if (!(await isCurrent(found))) return REFUSED;
      try {
        return await send(...sent(found));
      } catch (error) {
        if (!reread || !isStale(error) || attempt === MAX_ATTEMPTS) throw error;
      }
    }
  }

  async function save(event) {
    event.preventDefault();
    const found = collected();
    if (!found) return;
    submit.disabled = true;
    fill(problem, h("p", { class: "muted", role: "status" }, t.working));
    try {
      const answer = await tried(found);
      if (answer === REFUSED) {
        fill(problem);
        return;
      }
      fill(problem, isChange ? h("p", { class: "done", role: "status" }, t.saved) : null);
      say(isChange ? t.saved : t.done);
      await settle();
      await done?.(answer, found);
    } catch (error) {
      complain(error);
    } finally {
      submit.disabled = false;
    }
  }

  function marked() {
    reveal();
    element.toggleAttribute("data-dirty", snapshot() !== initial);
  }

  const element = h(
    "form",
    { class: "form", novalidate: true, onsubmit: save, oninput: marked },
    [...boxes.values()],
    extra,
    problem,
    h(
      "div",
      { class: "buttons" },
      submit,
      cancel && button(t.cancel, cancel),
      request && curlButton(() => request(...sent(collected() ?? {}))),
    ),
  );
  return element;
}

/** Whether any form on the page has unsaved changes. */
export function hasUnsaved() {
  return Boolean(document.querySelector("form[data-dirty]"));
}
