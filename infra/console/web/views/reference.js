// All operations of the API, with a search field.

import { table } from "../components/list.js";
import { empty, head, link, tag } from "../components/parts.js";
import { fill, h } from "../core/dom.js";
import { document, operations } from "../core/openapi.js";
import { texts as t } from "../texts.js";
import { developers as d } from "../texts-developers.js";

/** Whether an operation contains all words of a search. */
export function has({ summary, path, method, id }, search) {
  const text = `${summary} ${path} ${method} ${id}`.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

export async function view({ to, query, router }) {
  const all = operations(await document());
  const body = h("div");
  const counted = h("span", { class: "muted small", role: "status" });
  const columns = [
    { label: d.reference.operation, class: "wide", cell: (operation) => operation.summary },
    {
      label: d.reference.request,
      class: "wide",
      cell: (operation) => [h("span", { class: `method ${operation.method}` }, operation.method), " ", h("code", {}, operation.path)],
    },
    { label: d.reference.access, class: "fit end", cell: (operation) => operation["x-access"] && tag(operation["x-access"]) },
  ];
  const show = (search) => {
    const found = all.filter((operation) => has(operation, search));
    counted.textContent = d.reference.count(found.length);
    fill(
      body,
      found.length
        ? table({ columns, rows: found, label: d.reference.title, href: (operation) => to(`/api/${operation.id}`) })
        : empty(t.nothingFound),
    );
  };
  const field = h("input", {
    type: "search",
    value: query.get("q") ?? "",
    placeholder: d.reference.search,
    "aria-label": d.reference.search,
    spellcheck: "false",
    autocomplete: "off",
    oninput: () => {
      router.replace({ q: field.value });
      show(field.value);
    },
  });
  show(field.value);
  return h(
    "div",
    {},
    head(d.reference.title, { lead: [d.reference.lead, " ", link("/docs/api", d.reference.docs)] }),
    h("form", { class: "filters", role: "search", onsubmit: (event) => event.preventDefault() }, field, counted),
    body,
  );
}
