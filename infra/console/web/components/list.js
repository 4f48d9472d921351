// Lists: tables that are read page by page, with search, order and filters in the URL. Rows may be
// links.

import { nextRows } from "../core/api.js";
import { fill, h, newId, say } from "../core/dom.js";
import { count } from "../core/format.js";
import { same } from "../core/values.js";
import { texts as t } from "../texts.js";
import { button, curlButton, empty, failure } from "./parts.js";

const LIMIT = 50;
const LIVE_MILLIS = 5_000;
const TYPING_MILLIS = 250;

/**
 * A table of rows; each column has a label, a cell, and optionally a class. `href` returns the URL
 * a row links to, if any.
 */
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
    columns.map(({ cell, label, class: kind }, index) => {
      const content = cell(row);
      return h("td", { class: kind, "data-label": label || null }, index === 0 && to ? h("a", { class: "row", href: to }, content) : content);
    }),
  );
}

/**
 * A list.
 *
 * - `path` and `query` name the operation, `items` the field with its rows;
 * - `columns`, `href`: see `table`;
 * - `search` is the query parameter of the search, `choices` are orders and filters;
 * - `index` is the query parameter of a quick search, which finds only some matches. The quick
 *   search runs first, unless an order is chosen; the full search runs on demand or if the quick
 *   search finds nothing;
 * - `none` is shown when there are no rows;
 * - with `isLive`, the first page is updated automatically.
 */
export function list(options) {
  return new List(options).element;
}

class List {
  #options;
  #chosen;
  #body = h("div");
  #more = h("div", { class: "buttons more" });
  #counted = h("span", { class: "muted small", role: "status" });
  #running = new AbortController();
  #table = null;
  /** All visible rows, and the start of the next page. */
  #rows = [];
  #cursor = null;
  /** Updates the label of the default order, which differs while searching. */
  #named = () => {};
  /** Whether the current search is the quick one. */
  #isIndexed = false;

  constructor(options) {
    this.#options = { query: {}, items: "items", choices: [], isPaged: true, ...options };
    const { router, search, choices, isLive } = this.#options;
    const url = new URLSearchParams(router ? location.search : "");
    this.#chosen = { q: search ? (url.get("q") ?? "") : "" };
    for (const choice of choices) this.#chosen[choice.name] = url.get(choice.name) ?? defaultOf(choice);
    this.element = this.#element();
    this.element.reload = () => this.#load();
    this.#load();
    if (isLive) this.#follow();
  }

  /** The query for the chosen rows. */
  #query() {
    const { query, search, choices, isPaged } = this.#options;
    const wanted = { ...query, ...(isPaged && { limit: LIMIT }) };
    if (search && this.#chosen.q) wanted[this.#isIndexed ? this.#options.index : search] = this.#chosen.q;
    for (const { name, query: queryOf } of choices) {
      const value = this.#chosen[name];
      Object.assign(wanted, queryOf ? queryOf(value, { isIndexed: this.#isIndexed }) : { [name]: value });
    }
    return wanted;
  }

  /** Whether the chosen search and order allow the quick search. */
  get #mayUseIndex() {
    const { index, choices } = this.#options;
    return Boolean(index && this.#chosen.q && choices.every((choice) => !choice.isOrder || this.#chosen[choice.name] === defaultOf(choice)));
  }

  /** Reads the next rows. If the quick search finds none, the full one starts. */
  async #read(cursor, signal) {
    const { api, path, items } = this.#options;
    const found = await nextRows(api, path, this.#query(), cursor, { signal, items });
    if (!this.#isIndexed || found.cursor || found.rows.length || this.#rows.length) return found;
    this.#isIndexed = false;
    return nextRows(api, path, this.#query(), undefined, { signal, items });
  }

  /** Adds the matches that the quick search misses. */
  #searchAll() {
    this.#isIndexed = false;
    return this.#load(null);
  }

  /**
   * Reads and shows the first page, or the page at a cursor. With `null`, adds the first page of
   * the full search to the rows of the quick search.
   */
  async #load(cursor) {
    this.#running.abort();
    this.#running = new AbortController();
    const { signal } = this.#running;
    const isFirst = cursor === undefined;
    if (isFirst) {
      this.#isIndexed = this.#mayUseIndex;
      this.#rows = [];
    }
    fill(this.#more, h("span", { class: "muted", role: "status" }, t.loading));
    try {
      const found = await this.#read(cursor ?? undefined, signal);
      if (signal.aborted) return;
      if (isFirst) this.#showFirst(found);
      else this.#showNext(found);
    } catch (error) {
      if (error.name === "AbortError") return;
      if (isFirst) fill(this.#body);
      fill(this.#more, failure(error, { again: () => this.#load(cursor) }));
    }
  }

  #showFirst({ rows, cursor }) {
    const { choices, none } = this.#options;
    const isFiltered = this.#chosen.q || choices.some((choice) => this.#chosen[choice.name] !== defaultOf(choice));
    this.#rows = rows;
    this.#table = rows.length ? table({ ...this.#options, rows }) : null;
    fill(this.#body, this.#table ?? (cursor ? null : empty(isFiltered ? t.nothingFound : none)));
    this.#showEnd(rows, cursor);
  }

  #showNext({ rows, cursor }) {
    const { index } = this.#options;
    const known = new Set(index ? this.#rows.map(({ id }) => id) : []);
    const added = rows.filter(({ id }) => !known.has(id));
    this.#rows = [...this.#rows, ...added];
    if (this.#table) this.#table.add(added);
    else if (added.length) fill(this.#body, (this.#table = table({ ...this.#options, rows: added })));
    this.#showEnd(added, cursor);
    say(this.#counted.textContent);
  }

  /** Shows how many rows there are, and how to get more. */
  #showEnd(found, cursor) {
    const shown = this.#rows.length;
    this.#cursor = cursor;
    this.#counted.textContent = cursor ? t.rowsAndMore(count(shown)) : shown ? t.rows(shown) : "";
    const isSearching = cursor && !found.length;
    const isPart = this.#isIndexed && !cursor;
    fill(
      this.#more,
      isSearching && h("span", { class: "muted" }, shown ? t.searchedMore : t.searchedPart),
      isPart && h("span", { class: "muted" }, t.searchedBeginnings),
      isPart && button(t.searchInside, () => this.#searchAll()),
      cursor && button(isSearching ? t.searchOn : t.loadMore, () => this.#load(cursor)),
    );
  }

  /**
   * Updates the first page at intervals, unless the browser's tab is hidden, more pages are loaded,
   * or details or a dialog are open. The focus stays on its row.
   */
  #follow() {
    const timer = setInterval(async () => {
      if (!this.element.isConnected) return clearInterval(timer);
      const isBusy = document.hidden || this.#rows.length > LIMIT || document.querySelector("dialog[open], .rows details[open]");
      if (isBusy) return undefined;
      const { signal } = this.#running;
      try {
        const found = await this.#read(undefined, signal);
        const isSame = same(found.rows, this.#rows) && found.cursor === this.#cursor;
        if (signal.aborted || isSame || document.querySelector("dialog[open]")) return undefined;
        const focused = this.#body.contains(document.activeElement) && document.activeElement.getAttribute("href");
        this.#showFirst(found);
        if (focused) this.#body.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
      } catch {
        // Keep the rows, because the next attempt may succeed.
      }
      return undefined;
    }, LIVE_MILLIS);
  }

  /** Rereads the rows after search, order or a filter has changed. */
  #changed() {
    const { router, choices } = this.#options;
    const different = choices.filter((choice) => this.#chosen[choice.name] !== defaultOf(choice));
    this.#named();
    router?.replace({ q: this.#chosen.q, ...Object.fromEntries(different.map(({ name }) => [name, this.#chosen[name]])) });
    this.#load();
  }

  #search() {
    let typing;
    const { searchLabel } = this.#options;
    const typed = (event) => {
      this.#chosen.q = event.target.value.trim();
      clearTimeout(typing);
      // When the timer fires, the user may have opened another page.
      typing = setTimeout(() => this.element.isConnected && this.#changed(), TYPING_MILLIS);
    };
    const attributes = { placeholder: searchLabel, "aria-label": searchLabel, spellcheck: "false", autocomplete: "off" };
    return h("input", { type: "search", value: this.#chosen.q, oninput: typed, ...attributes });
  }

  #choice(choice) {
    const id = newId("choice");
    const { index } = this.#options;
    const chosen = (event) => {
      this.#chosen[choice.name] = event.target.value;
      this.#changed();
    };
    const options = choice.options.map(([value, text]) => h("option", { value, selected: value === this.#chosen[choice.name] }, text));
    if (index && choice.isOrder) this.#named = () => fill(options[0], this.#chosen.q ? t.bestFirst : choice.options[0][1]);
    this.#named();
    return [h("label", { class: "label", for: id }, choice.label), h("select", { id, onchange: chosen }, options)];
  }

  #element() {
    const { api, path, search, choices } = this.#options;
    const curl = curlButton(() => api.request("GET", path, { query: this.#query() }));
    const filters = [
      search && this.#search(),
      choices.map((choice) => this.#choice(choice)),
      h("span", { class: "list-end" }, this.#counted, curl),
    ];
    return h(
      "div",
      { class: "list" },
      h("form", { class: "filters", role: "search", onsubmit: (event) => event.preventDefault() }, filters),
      this.#body,
      this.#more,
    );
  }
}

const defaultOf = ({ options }) => options[0][0];
