// The client of the API. Requests are plain values, so the console can show them as curl commands.

export const API = "/api/v1";

/** A failure as the API described it; status 0 means no answer. */
export class ApiError extends Error {
  constructor(status, body, retryAfter) {
    super(body?.error ?? "");
    this.status = status;
    this.code = body?.code ?? "";
    this.hint = body?.hint ?? "";
    this.details = body?.details ?? {};
    this.documentation = body?.code ? `/docs/errors#${body.code}` : "";
    this.retryAfter = retryAfter;
    this.fields = fieldsOf(this.details.problems ?? []);
  }
}

/** The first problem of each field of the body, by the field's path. */
function fieldsOf(problems) {
  const ofBody = problems.filter(({ path }) => path.startsWith("body."));
  return Object.fromEntries(ofBody.reverse().map(({ path, problem }) => [path.slice("body.".length), problem]));
}

const KEY_HEADER = {
  admin: "x-service-super-secret-admin-key",
  server: "x-service-secret-server-key",
  client: "x-service-publishable-client-key",
};

/**
 * A request: `credentials` have the project, the access level (default: `admin`) and optionally a
 * key, an admin access token, or the tokens of a session.
 */
export function request(credentials, method, path, { query, body, ifMatch } = {}) {
  const level = credentials.level ?? "admin";
  const headers = { "x-service-access-type": level, "x-service-project-id": credentials.projectId };
  if (credentials.key) headers[KEY_HEADER[level]] = credentials.key;
  if (credentials.adminToken) headers["x-service-admin-access-token"] = credentials.adminToken;
  if (credentials.token) headers["x-service-access-token"] = credentials.token;
  if (credentials.refreshToken) headers["x-service-refresh-token"] = credentials.refreshToken;
  if (credentials.isRestrictedAllowed) headers["x-service-allow-restricted-user"] = "true";
  if (ifMatch) headers["if-match"] = ifMatch;
  if (body !== undefined) headers["content-type"] = "application/json";
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const search = given.length ? `?${new URLSearchParams(given)}` : "";
  return { method, url: `${API}${path}${search}`, headers, body: body === undefined ? undefined : JSON.stringify(body) };
}

/** A path with its parts encoded: `` path`/users/${id}` ``. */
export function path(parts, ...values) {
  return parts.reduce((whole, part, index) => whole + encodeURIComponent(values[index - 1]) + part);
}

const VARIABLES = {
  "x-service-super-secret-admin-key": "GATELET_SUPER_SECRET_ADMIN_KEY",
  "x-service-secret-server-key": "GATELET_SECRET_SERVER_KEY",
  "x-service-publishable-client-key": "GATELET_PUBLISHABLE_CLIENT_KEY",
  "x-service-admin-access-token": "GATELET_ADMIN_ACCESS_TOKEN",
  "x-service-access-token": "GATELET_ACCESS_TOKEN",
  "x-service-refresh-token": "GATELET_REFRESH_TOKEN",
};

/**
 * A request as a shell command. Credentials appear as variables; for keys, the variables in
 * `keys.env`. Body texts are masked if the field's name contains `password`, `secret`, `totp` or
 * `token`, or ends with `code`.
 */
export function toCurl({ method, url, headers, body }, origin) {
  const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;
  const parts = [`curl ${method === "GET" ? "" : `-X ${method} `}${quoted(origin + url)}`];
  for (const [name, value] of Object.entries(headers)) {
    const variable = VARIABLES[name];
    if (name === "content-type") continue;
    parts.push(variable ? `-H "${name}: $${variable}"` : `-H ${quoted(`${name}: ${value}`)}`);
  }
  if (body !== undefined) parts.push(`--json ${quoted(masked(body))}`);
  return parts.join(" \\\n  ");
}

const SECRET_FIELD = /password|secret|totp|token|code$/;

function masked(body) {
  return JSON.stringify(JSON.parse(body), (name, value) => (SECRET_FIELD.test(name) && typeof value === "string" ? "••••••" : value));
}

/** Sends requests to the API of one project. */
export class Api {
  #credentials;
  #fetch;
  #renew;

  /** `credentials()` returns the current ones; `renew()` replaces expired ones. */
  constructor(credentials, { fetch = globalThis.fetch.bind(globalThis), renew } = {}) {
    this.#credentials = credentials;
    this.#fetch = fetch;
    this.#renew = renew;
  }

  /** The request that a call would send. */
  request(method, path, options) {
    return request(this.#credentials(), method, path, options);
  }

  async call(method, path, options = {}) {
    return (await this.answer(method, path, options)).body;
  }

  /** The response with its `ETag`. */
  async answer(method, path, options = {}) {
    let { response, body } = await this.#send(method, path, options);
    const isExpired = /^(ADMIN_)?ACCESS_TOKEN_EXPIRED$/.test(body?.code);
    if (response.status === 401 && isExpired && this.#renew && (await this.#renew()))
      ({ response, body } = await this.#send(method, path, options));
    if (!response.ok) throw new ApiError(response.status, body, response.headers.get("retry-after"));
    return { body, etag: response.headers.get("etag") };
  }

  async #send(method, path, options) {
    const { url, headers, body } = this.request(method, path, options);
    let response;
    try {
      response = await this.#fetch(url, { method, headers, body, signal: options.signal, cache: "no-store" });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new ApiError(0, { code: "", error: "" });
    }
    const text = await response.text();
    return { response, body: asJson(text) };
  }

  /** The resource at a path, for forms that edit it. */
  resource(path, query) {
    return new Resource(this, path, query);
  }

  get(path, query, options) {
    return this.call("GET", path, { query, ...options });
  }
  post(path, body = {}) {
    return this.call("POST", path, { body });
  }
  patch(path, body, options) {
    return this.call("PATCH", path, { body, ...options });
  }
  delete(path, query) {
    return this.call("DELETE", path, { query });
  }
}

/** The maximum number of attempts at a change that keeps losing to concurrent ones. */
export const MAX_ATTEMPTS = 3;

/** Whether an error means that a resource has changed since it was read. */
export const isStale = (error) => error.code === "PRECONDITION_FAILED";

/** A resource, changed only if it is still as last read. */
export class Resource {
  #api;
  #path;
  #query;
  #etag;

  constructor(api, path, query) {
    this.#api = api;
    this.#path = path;
    this.#query = query;
  }

  async read() {
    const { body, etag } = await this.#api.answer("GET", this.#path, { query: this.#query });
    this.#etag = etag;
    return body;
  }

  /** Changes the resource, by default at its own path. */
  change(body, path = this.#path) {
    return this.#api.patch(path, body, { ifMatch: this.#etag });
  }

  /** The request that changes the resource with this body, to copy as curl. */
  request(body) {
    return this.#api.request("PATCH", this.#path, { body });
  }

  /**
   * Reads the resource and replaces it with the result of `next`. Retries if someone else was
   * faster, up to `MAX_ATTEMPTS` attempts in all.
   */
  async replace(next) {
    for (let attempt = 1; ; attempt++) {
      const body = next(await this.read());
      try {
        return await this.change(body);
      } catch (error) {
        if (!isStale(error) || attempt === MAX_ATTEMPTS) throw error;
      }
    }
  }
}

/**
 * The error for an address that does not identify exactly one user. `verified` and `unverified` are
 * the ids of users who have or have not verified the address as their primary address.
 */
export class UnknownUser extends Error {
  constructor(address, verified, unverified) {
    super(address);
    this.address = address;
    this.verified = verified;
    this.unverified = unverified;
  }
}

/**
 * The id of a user, from an id or a verified primary address; a text without an @ is returned
 * trimmed. Throws `UnknownUser` unless exactly one user has verified the address. Anyone can enter
 * someone else's address or sign up with it, so an unverified address identifies nobody. Anonymous
 * users are found only by id.
 */
export async function userId(api, text) {
  const wanted = text.trim();
  if (!wanted.includes("@")) return wanted;
  const found = await allRows(api, "/users", { starts_with: wanted, include_restricted: true, limit: 200 });
  const same = found.filter(({ primary_email: address }) => address?.toLowerCase() === wanted.toLowerCase());
  const ids = (isVerified) => same.filter((user) => user.primary_email_verified === isVerified).map(({ id }) => id);
  const verified = ids(true);
  if (verified.length !== 1) throw new UnknownUser(wanted, verified, ids(false));
  return verified[0];
}

function asJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return { error: text.slice(0, 500) };
  }
}

/** All rows of a list. */
export async function allRows(api, path, query) {
  const all = [];
  let cursor = null;
  do {
    const page = await api.get(path, { ...query, cursor });
    all.push(...page.items);
    cursor = page.pagination?.next_cursor ?? null;
  } while (cursor);
  return all;
}

/**
 * The next rows of a list. Pages of a search may be empty although more pages follow, so the
 * function reads up to `max` pages to find a row.
 */
export async function nextRows(api, path, query, cursor, { signal, max = 10, items = "items" } = {}) {
  for (let read = 1; ; read += 1) {
    const page = await api.get(path, { ...query, cursor }, { signal });
    cursor = page.pagination?.next_cursor ?? null;
    if (page[items].length || !cursor || read === max) return { rows: page[items], cursor };
  }
}
