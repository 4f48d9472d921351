// Maps paths to views, and navigates without reloading.

export const BASE = "/console";

/**
 * The parameters of a path that matches a pattern such as `/:project/users/:user`; `null` if it
 * does not match.
 */
export function match(pattern, path) {
  const wanted = pattern.split("/");
  const given = path.split("/");
  if (wanted.length !== given.length) return null;
  const parameters = {};
  for (const [index, part] of wanted.entries()) {
    if (part.startsWith(":")) {
      const value = decoded(given[index]);
      if (!value) return null;
      parameters[part.slice(1)] = value;
    } else if (part !== given[index]) return null;
  }
  return parameters;
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

/** The first route that matches a path, with its parameters, or `null`. */
export function resolve(routes, path) {
  const inner = path.slice(BASE.length).replace(/\/+$/, "");
  for (const route of routes) {
    const parameters = match(route.path, inner);
    if (parameters) return { route, parameters };
  }
  return null;
}

/** The URL of a page: `url("/p1/users", { q: "ada" })`. */
export function url(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value);
  return `${BASE}${path}${given.length ? `?${new URLSearchParams(given)}` : ""}`;
}

/** The console's page that a text names, or `null`. The text may come from an untrusted link. */
export function ownPage(text) {
  try {
    const { origin, pathname, search } = new URL(text, location.origin);
    return origin === location.origin && pathname.startsWith(`${BASE}/`) ? pathname + search : null;
  } catch {
    return null;
  }
}

/** Calls `show` for each page opened, unless `mayLeave` forbids leaving the current one. */
export class Router {
  #show;
  #mayLeave;
  #href = location.href;

  constructor(show, mayLeave) {
    this.#show = show;
    this.#mayLeave = mayLeave;
    document.addEventListener("click", (event) => this.#clicked(event));
    addEventListener("popstate", () => this.#moved());
  }

  #clicked(event) {
    const link = event.target.closest?.("a[href]");
    const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
    if (!link || !isPlain || event.defaultPrevented || link.target || link.hasAttribute("download")) return;
    const to = new URL(link.href);
    const isConsole = to.origin === location.origin && (to.pathname === BASE || to.pathname.startsWith(`${BASE}/`));
    if (!isConsole || (to.hash && to.pathname === location.pathname)) return;
    event.preventDefault();
    this.go(to.pathname + to.search);
  }

  async #moved() {
    const to = location.href;
    if (new URL(to).pathname === new URL(this.#href).pathname && new URL(to).search === new URL(this.#href).search) return;
    if (!(await this.#mayLeave())) {
      history.pushState(null, "", this.#href);
      return;
    }
    this.#href = to;
    this.#show();
  }

  async go(path) {
    if (!(await this.#mayLeave())) return;
    history.pushState(null, "", path);
    this.#href = location.href;
    scrollTo(0, 0);
    await this.#show();
  }

  /** Changes the query of the current page without showing it again. */
  replace(query) {
    const given = Object.entries(query).filter(([, value]) => value);
    history.replaceState(null, "", location.pathname + (given.length ? `?${new URLSearchParams(given)}` : ""));
    this.#href = location.href;
  }
}
