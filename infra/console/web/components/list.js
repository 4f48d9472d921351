// Lists: a table whose rows are links, read page by page, with search, order and filters in the
// URL.

import { nextRows } from "../core/api.js";
import { fill, h, newId, say } from "../core/dom.js";
import { count } from "../core/format.js";
import { texts as t } from "../texts.js";
import { button, curlButton, empty, failure } from "./parts.js";

const LIMIT = 50;
const TYPING_MILLIS = 250;

/** A table of rows; each column has a label, a cell, and optionally a class. */
export function table({ columns, rows, href, label }) {
  const body = h("tbody");
  const whole = h(
    "table",
    { class: "rows", "aria-label": label },
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        columns.map(({ label: text, class: kind }) =>
          h("th", { scope: "col", class: kind }, text || h("span", { class: "label" }, t.actions)),
        ),
      ),
    ),
    body,
  );
  whole.add = (more) => body.append(...more.map((row) => tableRow(columns, row, href)));
  whole.add(rows);
  return whole;
}

function tableRow(columns, row, href) {
  const to = href?.(row);
  return h(
    "tr",
    {},
    columns.map(({ cell, class: kind }, index) => {
      const content = cell(row);
      return h("td", { class: kind }, index === 0 && to ? h("a", { class: "row", href: to }, content) : content);
    }),
  );
}

/**
 * A list.
 *
 * - `path` and `query` name the operation, `items` the field with its rows;
 * - `columns`, `href`: see `table`;
 * - `search` is the name of the query parameter of a search, `orders` and `filters` have choices;
 * - `none` is what the list shows without rows.
 */
export function list({
  api,
  router,
  path,
  query = {},
  items = "items",
  columns,
  href,
  search,
  searchLabel,
  choices = [],
  none,
  label,
  isPaged = true,
  controls,
}) {
  const url = new URLSearchParams(router ? location.search : "");
  const chosen = { q: search ? (url.get("q") ?? "") : "" };
  for (const choice of choices) chosen[choice.name] = url.get(choice.name) ?? choice.options[0][0];
  const body = h("div", { "aria-live": "off" });
  const more = h("div", { class: "buttons more" });
  const counted = h("span", { class: "muted small", role: "status" });
  let running = new AbortController();
  let rows = null;
  let shownRows = 0;

  function asked() {
    const wanted = { ...query, ...(isPaged && { limit: LIMIT }) };
    if (search && chosen.q) wanted[search] = chosen.q;
    for (const choice of choices)
      Object.assign(wanted, choice.query ? choice.query(chosen[choice.name]) : { [choice.name]: chosen[choice.name] });
    return wanted;
  }

  async function load(cursor) {
    running.abort();
    running = new AbortController();
    const { signal } = running;
    const isFirst = cursor === undefined;
    fill(more, h("span", { class: "muted", role: "status" }, t.loading));
    try {
      const found = await nextRows(api, path, asked(), cursor, { signal, items });
      if (signal.aborted) return;
      if (isFirst) shownRows = 0;
      shownRows += found.rows.length;
      show(found, isFirst);
    } catch (error) {
      if (error.name === "AbortError") return;
      if (isFirst) fill(body);
      fill(more, failure(error, { again: () => load(cursor) }));
    }
  }

  function show({ rows: found, cursor }, isFirst) {
    if (isFirst) {
      rows = found.length ? table({ columns, rows: found, href, label }) : null;
      const isFiltered = chosen.q || choices.some((choice) => chosen[choice.name] !== choice.options[0][0]);
      fill(body, rows ?? (cursor ? null : empty(isFiltered ? t.nothingFound : none)));
    } else if (found.length) {
      if (rows) rows.add(found);
      else fill(body, (rows = table({ columns, rows: found, href, label })));
    }
    counted.textContent = cursor ? t.rowsAndMore(count(shownRows)) : shownRows ? t.rows(shownRows) : "";
    if (!isFirst) say(counted.textContent);
    fill(
      more,
      cursor && (found.length ? null : h("span", { class: "muted" }, t.searchedPart)),
      cursor && button(found.length ? t.loadMore : t.searchOn, () => load(cursor)),
    );
  }

  function changed() {
    if (router)
      router.replace({
        q: chosen.q,
        ...Object.fromEntries(
          choices.map((choice) => [choice.name, chosen[choice.name] === choice.options[0][0] ? "" : chosen[choice.name]]),
        ),
      });
    load();
  }

  let typing;
  const field =
    search &&
    h("input", {
      type: "search",
      value: chosen.q,
      placeholder: searchLabel,
      "aria-label": searchLabel,
      spellcheck: "false",
      autocomplete: "off",
      oninput: (event) => {
        chosen.q = event.target.value.trim();
        clearTimeout(typing);
        typing = setTimeout(changed, TYPING_MILLIS);
      },
    });
  const selects = choices.map((choice) => {
    const id = newId("choice");
    const select = h(
      "select",
      {
        id,
        onchange: (event) => {
          chosen[choice.name] = event.target.value;
          changed();
        },
      },
      choice.options.map(([value, text]) => h("option", { value, selected: value === chosen[choice.name] }, text)),
    );
    return [h("label", { class: "label", for: id }, choice.label), select];
  });
  load();
  const element = h(
    "div",
    { class: "list" },
    h(
      "form",
      { class: "filters", role: "search", onsubmit: (event) => event.preventDefault() },
      field,
      selects,
      controls,
      h(
        "span",
        { class: "list-end" },
        counted,
        curlButton(() => api.request("GET", path, { query: asked() })),
      ),
    ),
    body,
    more,
  );
  element.reload = () => load();
  return element;
}
