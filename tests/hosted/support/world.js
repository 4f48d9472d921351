// A gateway in memory, a browser, and API calls that prepare and check what the pages do.

import { readFileSync } from "node:fs";
import { request } from "node:http";
import { after, before } from "node:test";

import { launch } from "../../sdk/browser/chromium.js";
import { startGateway } from "../../sdk/support/gateway.js";
import { Inbox } from "../../sdk/support/inbox.js";
import { visitor } from "./visitor.js";

export const PASSWORD = "correct horse battery";

/** The texts of the pages in a language. */
export const textsOf = (language) => JSON.parse(readFileSync(new URL(`../../../functions/hosted/src/texts/${language}.json`, import.meta.url), "utf8"));

let addresses = 0;

/** An unused address. */
export function newAddress(name = "user") {
  addresses += 1;
  return `${name}.${process.pid}.${addresses}@example.com`;
}

/**
 * Starts a gateway and a browser before a file's tests, and stops them afterwards. `config` is the
 * project's.
 */
export function world({ config = {}, settings } = {}) {
  const it = {};
  it.started = (async () => {
    it.gateway = await startGateway({ GATELET_LIMITS: "off", ...settings });
    it.inbox = new Inbox(it.gateway);
    it.port = new URL(it.gateway.url).port;
    it.origin = it.originOf(it.gateway.projectId);
    await it.configure(config);
    it.browser = await launch();
  })();
  before(() => it.started);
  after(async () => {
    await it.browser?.close();
    await it.gateway?.stop();
  });

  /** The origin of a project's own host. */
  it.originOf = (projectId) => `http://${projectId}.localhost:${it.port}`;
  /** The URL of a page on the project's own host. */
  it.url = (page, query) => `${it.origin}${it.path(page, query)}`;
  it.path = (page, query) => `/handler/${page}${query ? `?${new URLSearchParams(query)}` : ""}`;
  it.visitor = (t, options) => visitor(t, it, options);
  Object.assign(it, calls(it), people(it));
  return it;
}

function calls(it) {
  const call = async (type, method, path, body, headers) => {
    const response = await fetch(`${it.gateway.url}/api/v1${path}`, {
      method,
      headers: { "content-type": "application/json", "x-service-access-type": type, "x-service-project-id": it.gateway.projectId, ...headers },
      body: body && JSON.stringify(body),
    });
    const read = await response.json();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(read)}`);
    return read;
  };
  return {
    admin: (method, path, body, more) => call("admin", method, path, body, { "x-service-super-secret-admin-key": it.gateway.superSecretAdminKey, ...more }),
    server: (method, path, body) => call("server", method, path, body, { "x-service-secret-server-key": it.gateway.secretServerKey }),
    client: (method, path, body, token, refreshToken) => call("client", method, path, body, {
      "x-service-publishable-client-key": it.gateway.publishableClientKey,
      ...(token && { "x-service-access-token": token }),
      ...(refreshToken && { "x-service-refresh-token": refreshToken }),
    }),
    /** The issuer of the project. */
    issuer: () => `${it.gateway.url}/api/v1/projects/${it.gateway.projectId}`,
    /** Changes settings of the project. */
    configure: (config) => it.admin("PATCH", "/internal/projects/current", { config }),
    /** A token request (RFC 6749); returns status and body. */
    token: async (fields) => {
      const { url, projectId: client_id, publishableClientKey: client_secret } = it.gateway;
      const response = await fetch(`${url}/api/v1/auth/oauth/token`, { method: "POST", body: new URLSearchParams({ client_id, client_secret, ...fields }) });
      return { status: response.status, body: await response.json() };
    },
    /**
     * A request as it is, without a browser. Node.js does not resolve names below localhost, so the
     * host is only in the header.
     */
    ask: (url, { method = "GET", headers = {}, body } = {}) => ask(new URL(url), method, headers, body),
  };
}

function ask(url, method, headers, body) {
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port: url.port, path: url.pathname + url.search, method, headers: { host: url.host, ...headers } };
    const asked = request(options, async (response) => {
      const parts = [];
      for await (const part of response) parts.push(part);
      const setCookies = response.headers["set-cookie"] ?? [];
      resolve({ status: response.statusCode, headers: response.headers, setCookies, body: Buffer.concat(parts).toString() });
    });
    asked.once("error", reject);
    asked.end(body);
  });
}

function people(it) {
  const signIn = (email, password = PASSWORD) => it.client("POST", "/auth/password/sign-in", { email, password });
  return {
    signIn,
    /** A user with a verified address and a password. */
    person: async (fields = {}) => {
      const email = newAddress();
      const user = await it.server("POST", "/users", { primary_email: email, primary_email_verified: true, primary_email_auth_enabled: true, password: PASSWORD, ...fields });
      return { email, id: user.id, user };
    },
    /** Gives a person an authenticator app; returns its secret and the recovery codes. */
    addApp: async ({ email }) => {
      const { access_token: token } = await signIn(email);
      const secret = crypto.getRandomValues(Buffer.alloc(20));
      await it.client("PATCH", "/users/me", { totp_secret_base64: secret.toString("base64") }, token);
      // The person's factors have changed, so the earlier session may no longer do everything.
      const { codes } = await it.client("POST", "/auth/mfa/recovery-codes", {}, token);
      return { secret, codes };
    },
    /** A person allows a client what it asks for. */
    allow: async ({ email }, client, scope, resources = []) => {
      const { access_token: token, refresh_token: refreshToken } = await signIn(email);
      const parameters = new URLSearchParams({
        response_type: "code", client_id: client.id, redirect_uri: client.redirect_uris[0], scope, code_challenge: "A".repeat(43), code_challenge_method: "S256",
      });
      for (const resource of resources) parameters.append("resource", resource);
      const { request } = await it.client("POST", "/auth/oauth2/authorizations", { parameters: `${parameters}` }, token, refreshToken);
      await it.client("POST", "/auth/oauth2/authorizations/complete", { request, consent: "allow", is_account_chosen: true }, token, refreshToken);
    },
    /** The user's live sessions. */
    sessionsOf: async (id) => (await it.server("GET", `/auth/sessions?user_id=${id}`)).items,
  };
}
