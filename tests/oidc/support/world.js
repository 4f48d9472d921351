// The surroundings of the tests: a gateway whose project uses a local provider, and apps whose
// users sign in through the gateway and the provider.

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { after, before } from "node:test";

import { configure, startGateway } from "../../sdk/support/gateway.js";
import { Inbox, linkOf } from "../../sdk/support/inbox.js";
import { CLIENTS, startProvider } from "./provider.js";
import { Visitor } from "./visitor.js";

export const REDIRECT_URI = "http://localhost:3000/callback";
export const PASSWORD = "correct horse battery";

/** Starts gateway and provider before a file's tests, and stops them afterwards. */
export function world({ client = "basic", provider: more } = {}) {
  const it = {};
  it.started = start(it, client, more);
  before(() => it.started);
  after(async () => {
    await it.provider?.stop();
    await it.gateway?.stop();
  });
  Object.assign(it, calls(it), flows(it));
  return it;
}

async function start(it, client, more) {
  it.gateway = await startGateway();
  it.inbox = new Inbox(it.gateway);
  it.callback = `${it.gateway.url}/api/v1/auth/oauth/callback/acme`;
  it.provider = await startProvider({ callbacks: [it.callback], more });
  await it.use(client);
}

function acme(it, client) {
  const { client_id, client_secret } = CLIENTS[client];
  return { id: "acme", type: "standard", client_id, client_secret, issuer: it.provider.issuer };
}

function calls(it) {
  const headers = (type, keys) => ({ "content-type": "application/json", "x-stack-access-type": type, "x-stack-project-id": it.gateway.projectId, ...keys });
  const call = async (method, path, { body, ...more }) => {
    const response = await fetch(`${it.gateway.url}/api/v1${path}`, { method, headers: more, body: body && JSON.stringify(body) });
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
  return {
    client: (method, path, body, token) => call(method, path, {
      body, ...headers("client", { "x-stack-publishable-client-key": it.gateway.publishableClientKey, ...(token && { "x-stack-access-token": token }) }),
    }),
    server: (method, path, body) => call(method, path, { body, ...headers("server", { "x-stack-secret-server-key": it.gateway.secretServerKey }) }),
    admin: (method, path, body) => call(method, path, { body, ...headers("admin", { "x-stack-super-secret-admin-key": it.gateway.superSecretAdminKey }) }),

    /** Enables sign-in with one of the provider's clients as `acme`. */
    use: async (client, config = {}) => {
      const answer = await it.admin("PATCH", "/internal/projects/current", { config: { oauth_providers: [acme(it, client)], ...config } });
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
    },
    /** The same in the project `internal`. */
    useInternal: (client, config) => {
      const { url, internalAdminKey: superSecretAdminKey } = it.gateway;
      return configure({ url, projectId: "internal", superSecretAdminKey }, { oauth_providers: [acme(it, client)], ...config });
    },
    me: async (token) => {
      const answer = await it.client("GET", "/users/me", undefined, token);
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      return answer.body;
    },
    /** A new user with an unverified address and a password. */
    signUp: async (email) => {
      const answer = await it.client("POST", "/auth/password/sign-up", { email, password: PASSWORD, verification_callback_url: REDIRECT_URI });
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      return answer.body;
    },
    /** Signs in with an emailed link, which verifies the address. */
    signInByMail: async (email) => {
      const sent = await it.client("POST", "/auth/otp/send-sign-in-code", { email, callback_url: REDIRECT_URI });
      assert.equal(sent.status, 200, JSON.stringify(sent.body));
      const answer = await it.client("POST", "/auth/otp/sign-in", { code: linkOf(await it.inbox.next(email)).code });
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      return answer.body;
    },
    refresh: (refresh_token) => it.token({ grant_type: "refresh_token", refresh_token }),
    token: async (fields) => {
      const { projectId: client_id, publishableClientKey: client_secret } = it.gateway;
      const response = await fetch(`${it.gateway.url}/api/v1/auth/oauth/token`, {
        method: "POST", body: new URLSearchParams({ client_id, client_secret, ...fields }), redirect: "manual",
      });
      return { status: response.status, headers: response.headers, body: await response.json() };
    },
  };
}

function flows(it) {
  return {
    /**
     * Starts a flow like an app; returns authorize's response, and the app's own values.
     */
    authorize: async (visitor, more = {}) => {
      const app = { state: randomBytes(16).toString("hex"), verifier: randomBytes(32).toString("base64url") };
      const query = new URLSearchParams({
        client_id: it.gateway.projectId, client_secret: it.gateway.publishableClientKey, redirect_uri: REDIRECT_URI, scope: "legacy", state: app.state,
        grant_type: "authorization_code", code_challenge: createHash("sha256").update(app.verifier).digest("base64url"),
        code_challenge_method: "S256", response_type: "code", ...more,
      });
      return { ...app, response: await visitor.ask(`${it.gateway.url}/api/v1/auth/oauth/authorize/acme?${query}`) };
    },
    /** Starts a flow in redirect mode, and follows it to the callback URL. */
    toCallback: async (visitor, { login, denies, ...more }) => {
      const app = await it.authorize(visitor, more);
      assert.equal(app.response.status, 307, await app.response.text());
      const { url, questions } = await visitor.through(app.response.headers.get("location"), { login, denies });
      assert.ok(url.href.startsWith(`${it.callback}?`), `back at the callback: ${url}`);
      return { ...app, url, questions };
    },
    /** Runs a flow until it returns to the app; `landed` is the app's URL in the redirect. */
    toApp: async (visitor, options) => {
      const app = await it.toCallback(visitor, options);
      const response = await visitor.ask(app.url);
      return { ...app, landed: landed(response, app.state) };
    },
    exchange: (code, verifier, more = {}) => it.token({ grant_type: "authorization_code", code, code_verifier: verifier, redirect_uri: REDIRECT_URI, ...more }),
    /** A complete sign-in; returns tokens and user, and the flow's code and verifier. */
    signIn: async (login, { visitor = new Visitor(), ...more } = {}) => {
      const { landed: url, verifier, questions } = await it.toApp(visitor, { login, ...more });
      assert.ok(url.searchParams.has("code"), `a code in ${url}`);
      const answer = await it.exchange(url.searchParams.get("code"), verifier);
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      return { ...answer.body, questions, code: url.searchParams.get("code"), verifier, me: await it.me(answer.body.access_token) };
    },
  };
}

/** The target of a callback's redirect: the app, with its state. */
export function landed(response, state) {
  assert.equal(response.status, 303);
  const url = new URL(response.headers.get("location"));
  assert.equal(`${url.origin}${url.pathname}`, REDIRECT_URI);
  assert.equal(url.searchParams.get("state"), state);
  return url;
}

/** The app's error code, along with this OAuth error. */
export function refusalOf(url, error = "server_error") {
  assert.equal(url.searchParams.get("error"), error, `${url}`);
  assert.equal(url.searchParams.get("code"), null);
  return url.searchParams.get("errorCode");
}
