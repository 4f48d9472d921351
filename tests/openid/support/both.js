// The same client at Gatelet and at npm's `oidc-provider`, so that both services get the same
// requests. Also summarizes the services' responses in a few words.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";

import { startProvider } from "../../oidc/support/provider.js";
import { Visitor } from "../../oidc/support/visitor.js";
import { PASSWORD, newAddress } from "../../hosted/support/world.js";

export const REDIRECT_URI = "https://notes.example.com/callback";
export const VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk-and-more";
const SCOPE = "openid email offline_access";

/** Starts both; each has two clients, and a user who consents to everything. */
export async function startBoth(w) {
  const clients = [await newClient(w, "Notes"), await newClient(w, "Another")];
  return [await gatelet(w, clients), await reference(clients)];
}

const newClient = (w, name) => w.newClient({ name, redirect_uris: [REDIRECT_URI], scopes: SCOPE.split(" ") });

async function gatelet(w, clients) {
  const { access_token, refresh_token } = await w.client("POST", "/auth/password/sign-up", { email: newAddress(), password: PASSWORD, verification_callback_url: "http://localhost:3000/" });
  const newCode = async (client) => {
    const { request } = await w.client("POST", "/auth/oauth2/authorizations", { parameters: `${query(usual(client, { prompt: "consent" }))}` });
    const { redirection } = await w.client("POST", "/auth/oauth2/authorizations/complete", { request, consent: "allow" }, access_token, refresh_token);
    return codeOf(redirection.url);
  };
  // An accepted request leads to a page with its id. Instead of showing anything, the page may
  // redirect back to the client.
  const follow = async (page) => {
    const { headers, ...answer } = await w.ask(page);
    return { ...answer, location: headers.location };
  };
  const base = `${w.issuer()}/oauth2`;
  return side({ clients, newCode, follow, authorization: `${base}/authorize`, token: `${base}/token`, userinfo: `${base}/userinfo`, issuer: w.issuer(), stop: () => {} });
}

async function reference(clients) {
  const provider = await startProvider({
    callbacks: [],
    more: {
      clients: clients.map(({ id, client_secret }) => ({
        client_id: id, client_secret, redirect_uris: [REDIRECT_URI], scope: SCOPE, grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
      })),
      claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "picture"], teams: ["teams"], permissions: ["permissions"] },
      features: { devInteractions: { enabled: false }, clientCredentials: { enabled: true }, deviceFlow: { enabled: true } },
      rotateRefreshToken: true,
      enableHttpPostMethods: true,
      cookies: { keys: ["a key of cookies"], long: { sameSite: "none" } },
      responseTypes: ["code"],
      allowOmittingSingleRegisteredRedirectUri: false,
    },
  });
  const login = provider.account("ada", { email: "ada@example.com" });
  const visitor = new Visitor();
  const { issuer } = provider;
  const newCode = async (client) => {
    const { url } = await visitor.through(`${issuer}/auth?${query(usual(client, { prompt: "consent" }))}`, { login });
    return codeOf(url);
  };
  return side({ clients, newCode, authorization: `${issuer}/auth`, token: `${issuer}/token`, userinfo: `${issuer}/me`, issuer, stop: () => provider.stop() });
}

function codeOf(url) {
  const code = new URL(url).searchParams.get("code");
  assert.ok(code, `a code in ${url}`);
  return code;
}

/** The parameters of an ordinary authorization request, with changes. */
export const usual = ({ id }, changes = {}) => ({
  client_id: id, redirect_uri: REDIRECT_URI, response_type: "code", scope: SCOPE, state: "s t&te", nonce: "n-1",
  code_challenge: createHash("sha256").update(VERIFIER).digest("base64url"), code_challenge_method: "S256", ...changes,
});

/** Parameters as a query; `undefined` leaves one out, and a list repeats it. */
export function query(parameters) {
  const pairs = Object.entries(parameters).flatMap(([name, values]) => [values].flat().map((value) => [name, value]));
  return new URLSearchParams(pairs.filter(([, value]) => value !== undefined));
}

export const basic = ({ id, client_secret }) => `Basic ${btoa(`${id}:${client_secret}`)}`;

function side(it) {
  const [client, other] = it.clients;
  const redeem = async (owner) => {
    const body = query({ grant_type: "authorization_code", code: await it.newCode(owner), redirect_uri: REDIRECT_URI, code_verifier: VERIFIER });
    const response = await fetch(it.token, { method: "POST", headers: { authorization: basic(owner) }, body });
    const tokens = await response.json();
    assert.equal(response.status, 200, JSON.stringify(tokens));
    return tokens;
  };
  return Object.assign(it, {
    client,
    other,
    newTokens: (owner = client) => redeem(owner),
    /** "accepted", "page", or "client: " and the error that the client gets. */
    authorize: async (changes, { method = "GET" } = {}) => {
      const parameters = query(usual(client, changes));
      const url = method === "GET" ? `${it.authorization}?${parameters}` : it.authorization;
      const response = await fetch(url, { method, body: method === "GET" ? undefined : parameters, redirect: "manual" });
      const place = response.headers.get("location");
      return place && it.follow && !isClient(place) ? outcome(it, await it.follow(place)) : outcome(it, { location: place, status: response.status, body: await response.text() });
    },
    /** The status, the error, and the scheme of the challenge. */
    ask: async (url, request) => {
      const response = await fetch(url, request);
      const challenge = response.headers.get("www-authenticate") ?? "";
      const { error } = await response.json().catch(() => ({}));
      // A protected resource returns its error in the challenge (RFC 6750 §3).
      const code = url === it.userinfo ? challenge.match(/error="(\w+)"/)?.[1] : /^\w+$/.test(error) && error;
      return [response.status, code, challenge.split(" ")[0]].filter(Boolean).join(" ");
    },
  });
}

const isClient = (url) => /^[?#]/.test(url.slice(REDIRECT_URI.length)) && url.startsWith(REDIRECT_URI);

/** Where an answer of the authorization endpoint leads, and its error. */
function outcome({ issuer }, { location, status, body }) {
  if (location && !isClient(location)) return "accepted";
  const form = body.match(/<form[^>]* action="https:[^"]*notes[^]*<\/form>/)?.[0];
  if (!location && !form) return status >= 400 ? "page" : "accepted";
  const fields = () => [...form.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [name, value.replaceAll("&amp;", "&").replaceAll("&#x2f;", "/")]);
  const answer = location ? new URLSearchParams(location.slice(REDIRECT_URI.length + 1)) : new Map(fields());
  assert.ok(answer.get("error"), `an error in ${location ?? body}`);
  assert.equal(answer.get("iss"), issuer);
  return `client: ${answer.get("error")}${answer.get("state") === null || answer.get("state") === undefined ? " without state" : ""}`;
}
