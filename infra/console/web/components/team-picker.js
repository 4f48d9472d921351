// A field for teams, which are found by their names.

import { fill, h } from "../core/dom.js";
import { path } from "../core/api.js";
import { shortened } from "../core/format.js";
import { clients as words } from "../texts-oauth-clients.js";
import { button, shown } from "./parts.js";

const MAX_FOUND = 8;
const TYPING_MILLIS = 250;

/** The type of a field for ids of teams; see `TYPES` in `form.js`. */
export const teams = (api) => ({
  make: (field, id) => new TeamPicker(api, id).element,
  put: (ids) => ids ?? [],
  take: (ids) => ids,
});

class TeamPicker {
  #api;
  /** The names of teams; `null` for one that does not exist. */
  #names = new Map();
  #chosen = [];
  #chips = h("ul", { class: "chips" });
  #found = h("div", { class: "buttons" });
  #counted = h("span", { class: "muted small", role: "status" });
  #search;
  #typing;
  #running = new AbortController();

  constructor(api, id) {
    this.#api = api;
    this.#search = h("input", {
      id,
      type: "search",
      placeholder: words.searchTeams,
      autocomplete: "off",
      spellcheck: "false",
      oninput: () => this.#typed(),
      // Without this handler, Enter would send the form.
      onkeydown: (event) => event.key === "Enter" && event.preventDefault(),
    });
    this.element = h("div", { class: "picker" }, this.#chips, this.#search, this.#counted, this.#found);
    Object.defineProperty(this.element, "value", { get: () => this.#chosen, set: (ids) => this.#put(ids) });
  }

  #put(ids) {
    this.#chosen = [...ids];
    this.#draw();
    for (const id of ids) if (!this.#names.has(id)) this.#name(id);
  }

  async #name(id) {
    try {
      this.#names.set(id, (await this.#api.get(path`/teams/${id}`)).display_name);
    } catch (error) {
      if (error.status === 404) this.#names.set(id, null);
    }
    this.#draw();
  }

  #draw() {
    const chip = (id) => {
      const name = this.#names.get(id);
      const label = `${words.removeTeam} ${name ?? id}`;
      const text = name ? shown(name, { max: 60 }) : [name === null && `${words.goneTeam} `, h("code", { title: id }, shortened(id))];
      const remove = () => this.#change(this.#chosen.filter((one) => one !== id));
      return h("li", {}, h("span", {}, text), button("×", remove, { class: "quiet", title: words.removeTeam, "aria-label": label }));
    };
    fill(
      this.#chips,
      this.#chosen.map((id) => chip(id)),
    );
  }

  #change(ids) {
    this.#chosen = ids;
    this.#draw();
    this.#search.focus();
    this.element.dispatchEvent(new Event("input", { bubbles: true }));
  }

  #add(team) {
    this.#names.set(team.id, team.display_name);
    this.#search.value = "";
    fill(this.#found);
    this.#counted.textContent = "";
    this.#change([...this.#chosen, team.id]);
  }

  #typed() {
    clearTimeout(this.#typing);
    this.#running.abort();
    this.#typing = setTimeout(() => this.#look(this.#search.value.trim()), TYPING_MILLIS);
  }

  async #look(text) {
    this.#running = new AbortController();
    const { signal } = this.#running;
    try {
      const { items } = text ? await this.#api.get("/teams", { query: text, limit: MAX_FOUND }, { signal }) : { items: [] };
      if (signal.aborted) return;
      const open = items.filter(({ id }) => !this.#chosen.includes(id));
      this.#counted.textContent = text ? words.foundTeams(open.length) : "";
      // Names need not be unique.
      const named = (team) => [words.addTeam, " ", shown(team.display_name, { max: 60 }), " ", h("code", {}, team.id.slice(0, 8))];
      const add = (team) => button(named(team), () => this.#add(team), { class: "small-button" });
      fill(this.#found, open.map(add));
    } catch (error) {
      if (error.name === "AbortError") return;
      fill(this.#found);
      this.#counted.textContent = words.searchFailed;
    }
  }
}
