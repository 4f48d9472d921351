// The console's session: either the keys of the gateway's first project, for callers with the link
// that the gateway prints, or the session of a user of the project `internal`.

import { Api, ApiError } from "./api.js";
import { prove } from "./passkeys.js";
import { url } from "./router.js";

const TOKEN = "gatelet.console-token";
/** The token of the link opened last, until the gateway has accepted or rejected it. */
const OPENED = "gatelet.console-token-opened";
const SESSION = "gatelet.console-session";
const INTERNAL = "internal";

/**
 * Keeps the console token of the printed link until the gateway has accepted or rejected it, and
 * removes the token from the URL.
 */
export function takeToken(location, history, storage) {
  const token = location.hash.slice(1);
  if (!/^[\w-]{43}$/.test(token)) return;
  history.replaceState(null, "", location.pathname + location.search);
  try {
    storage.setItem(OPENED, token);
  } catch {
    // Storage is disabled, so callers can only sign in.
  }
}

/**
 * Removes the code of an emailed password reset link from the URL and returns it; `null` if there
 * is none.
 */
export function takeResetCode(location, history) {
  if (location.pathname.replace(/\/+$/, "") !== url("/password-reset")) return null;
  const code = new URLSearchParams(location.search).get("code");
  if (code !== null) history.replaceState(null, "", location.pathname);
  return code;
}

export class Session {
  #local = null;
  #user;
  #stores;
  #fetch;
  #renewal = null;

  constructor({ localStorage, sessionStorage, fetch = globalThis.fetch.bind(globalThis) }) {
    this.#stores = { localStorage, sessionStorage };
    this.#fetch = fetch;
    this.#user = read(sessionStorage, SESSION);
  }

  /**
   * Uses the token of the printed link to get the keys of the gateway's first project. Any site can
   * open the console with a made-up token, so the stored token is replaced only after the gateway
   * has accepted the new token.
   */
  async open() {
    const { localStorage } = this.#stores;
    const opened = text(localStorage, OPENED);
    if (opened) {
      const isAccepted = await this.#unlock(opened);
      if (isAccepted) set(localStorage, TOKEN, opened);
      // Another tab may have opened another link in the meantime.
      if (isAccepted !== null && text(localStorage, OPENED) === opened) set(localStorage, OPENED, null);
      if (isAccepted) return;
    }
    const token = text(localStorage, TOKEN);
    if (token) await this.#unlock(token);
  }

  /** Whether the gateway returns the keys; `null` if it does not answer. */
  async #unlock(token) {
    try {
      const answer = await this.#fetch("/console/session", { headers: { authorization: `Bearer ${token}` }, cache: "no-store" });
      if (answer.ok) this.#local = await answer.json();
      return answer.ok;
    } catch {
      // The gateway does not respond; pages report this when they call the API.
      return null;
    }
  }

  /** The first project with its keys; `null` if hidden from this browser. */
  get local() {
    return this.#local;
  }

  /**
   * The signed-in user's email address, otherwise name or id; `null` if nobody is signed in.
   */
  get email() {
    return this.#user?.email ?? null;
  }

  get isOpen() {
    return Boolean(this.#local ?? this.#user);
  }

  /** The API of a project, with admin access. */
  project(projectId) {
    if (this.#local?.project_id === projectId) {
      return new Api(() => ({ projectId, key: this.#local.super_secret_admin_key }), { fetch: this.#fetch });
    }
    return new Api(() => ({ projectId, adminToken: this.#user?.access }), { fetch: this.#fetch, renew: () => this.#renew() });
  }

  /**
   * The API of a project as called by its apps and servers: with a key for the first project, and
   * with a user's access token if given.
   */
  as(projectId, level, token) {
    const local = this.#local?.project_id === projectId ? this.#local : null;
    const key = { client: local?.publishable_client_key, server: local?.secret_server_key }[level];
    return new Api(() => ({ projectId, level, key, token: token || undefined }), { fetch: this.#fetch });
  }

  /** The API of the project `internal`, as the signed-in user. */
  get internal() {
    // Users who lack a required second factor can sign in to set one up.
    const credentials = () => ({ projectId: INTERNAL, level: "client", token: this.#user?.access, isRestrictedAllowed: true });
    return new Api(credentials, { fetch: this.#fetch, renew: () => this.#renew() });
  }

  /** The configuration of `internal`, which says how its users may sign in. */
  async ways() {
    return (await this.#anybody().get("/projects/current")).config;
  }

  /** Signs in. Returns the code of the attempt if a second factor is required, else `null`. */
  signIn(email, password) {
    return this.#attempt("/auth/password/sign-in", { email, password });
  }

  /** Signs in with a passkey. Returns the same as `signIn`. */
  async signInWithPasskey() {
    return this.#attempt("/auth/passkey/sign-in", await prove(this.#anybody()));
  }

  /** Completes a sign-in with a code from the authenticator app, or with a recovery code. */
  async secondFactor(attempt, code) {
    const isTotp = /^\d{6}$/.test(code);
    const factor = isTotp ? { type: "totp", totp: code } : { type: "recovery-code", recovery_code: code };
    await this.#complete(attempt, factor);
  }

  /** Completes a sign-in with a passkey as the second factor. */
  async secondFactorByPasskey(attempt) {
    await this.#complete(attempt, { type: "passkey", passkey: await prove(this.#anybody(), attempt) });
  }

  async #complete(attempt, factor) {
    await this.#begin(await this.#anybody().post("/auth/mfa/sign-in", { ...factor, code: attempt, remember_device: false }));
  }

  async #attempt(path, body) {
    try {
      await this.#begin(await this.#anybody().post(path, body));
      return null;
    } catch (error) {
      if (error instanceof ApiError && error.code === "MULTI_FACTOR_AUTHENTICATION_REQUIRED") return error.details.attempt_code;
      throw error;
    }
  }

  /** Saves the tokens of a sign-in with the user's address, name or id. */
  async #begin(tokens) {
    this.#keep("", tokens);
    try {
      const user = await this.internal.get("/users/me");
      this.#keep(user.primary_email ?? user.display_name ?? user.id, tokens);
    } catch (error) {
      this.#forget();
      throw error;
    }
  }

  /** Changes the password. All sessions end except the one that the refresh token belongs to. */
  changePassword(body) {
    const credentials = () => ({ projectId: INTERNAL, level: "client", token: this.#user?.access, refreshToken: this.#user?.refresh });
    return new Api(credentials, { fetch: this.#fetch, renew: () => this.#renew() }).post("/auth/password/update", body);
  }

  /** Emails a password reset link, if the address has an account. */
  async sendReset(email) {
    await this.#anybody().post("/auth/password/send-reset-code", { email, callback_url: location.origin + url("/password-reset") });
  }

  /** Fails unless the code of a reset link is valid. */
  async checkReset(code) {
    await this.#anybody().post("/auth/password/reset/check-code", { code });
  }

  /** Sets a new password with the code of a reset link. All sessions of the account end. */
  async resetPassword(code, password) {
    await this.#anybody().post("/auth/password/reset", { code, password });
  }

  /** Checks, confirms or refuses a tool's sign-in. Confirming gives the tool a session. */
  decide(code, mode) {
    const body = { login_code: code, mode, ...(mode === "complete" && { refresh_token: this.#user?.refresh }) };
    return this.internal.post("/auth/cli/complete", body);
  }

  /** Ends the session here and at the API. */
  async signOut() {
    const api = this.internal;
    try {
      await api.delete("/auth/sessions/current");
    } finally {
      this.#forget();
    }
  }

  #anybody() {
    return new Api(() => ({ projectId: INTERNAL, level: "client" }), { fetch: this.#fetch });
  }

  #keep(email, { access_token: access, refresh_token: refresh }) {
    this.#user = { email, access, refresh };
    write(this.#stores.sessionStorage, SESSION, this.#user);
  }

  #forget() {
    this.#user = null;
    write(this.#stores.sessionStorage, SESSION, null);
  }

  /** Gets a new access token; concurrent requests share one exchange. */
  #renew() {
    this.#renewal ??= this.#exchange().finally(() => {
      this.#renewal = null;
    });
    return this.#renewal;
  }

  async #exchange() {
    if (!this.#user?.refresh) return false;
    const { email, refresh } = this.#user;
    const api = new Api(() => ({ projectId: INTERNAL, level: "client", refreshToken: refresh }), { fetch: this.#fetch });
    try {
      const { access_token: access } = await api.post("/auth/sessions/current/refresh");
      this.#keep(email, { access_token: access, refresh_token: refresh });
      return true;
    } catch (error) {
      if (error.status === 401) this.#forget();
      return false;
    }
  }
}

function text(storage, name) {
  try {
    return storage.getItem(name);
  } catch {
    return null;
  }
}

function read(storage, name) {
  try {
    return JSON.parse(text(storage, name));
  } catch {
    return null;
  }
}

function write(storage, name, value) {
  set(storage, name, value === null ? null : JSON.stringify(value));
}

function set(storage, name, text) {
  try {
    if (text === null) storage.removeItem(name);
    else storage.setItem(name, text);
  } catch {
    // Storage is disabled, so the session ends when the page is closed.
  }
}
