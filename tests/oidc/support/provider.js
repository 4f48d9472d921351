// A real OpenID provider (npm's `oidc-provider`) with simple pages for login and consent. The
// provider requires PKCE, signs with RS256, and returns email addresses only from its userinfo
// endpoint, unless it is configured to include them in ID tokens.

import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import Provider from "oidc-provider";

export const CLIENTS = {
  basic: { client_id: "app", client_secret: "a secret of the app: with 100% + signs", token_endpoint_auth_method: "client_secret_basic" },
  post: { client_id: "app-post", client_secret: "a secret of the other app & its body", token_endpoint_auth_method: "client_secret_post" },
};

/** A new signing key. */
function newKey() {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return { ...privateKey.export({ format: "jwk" }), use: "sig", alg: "RS256", kid: `key-${Date.now()}-${Math.random()}` };
}

/** Starts a provider with redirects to the callbacks. `more` extends its configuration. */
export async function startProvider({ callbacks, more = {} }) {
  const accounts = new Map();
  let handle;
  const server = createServer((request, response) => handle(request, response));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const asked = [];
  const tokens = [];

  /** Starts a provider with new keys, in place of an earlier one at the same address. */
  function start() {
    const provider = new Provider(issuer, configuration({ accounts, callbacks, more }));
    provider.on("access_token.saved", (token) => tokens.push(token));
    const answer = provider.callback();
    handle = (request, response) => {
      const proof = request.headers.authorization?.split(" ")[0];
      asked.push(`${request.method} ${new URL(request.url, issuer).pathname}${proof ? ` with ${proof}` : ""}`);
      return request.url.startsWith("/interaction/") ? interact(provider, request, response) : answer(request, response);
    };
  }
  start();
  return {
    issuer,
    /**
     * The requests since the last call: method, path, and the header's authentication scheme.
     */
    asked: () => asked.splice(0),
    /** Creates an account with these claims. */
    account: (sub, claims = {}) => {
      accounts.set(sub, { sub, ...claims });
      return sub;
    },
    rotateKeys: start,
    /** The provider's answer to an app that asks for the user's claims with this token. */
    userinfo: (token) => fetch(`${issuer}/me`, { headers: { authorization: `Bearer ${token}` } }),
    /** Revokes all access tokens, as a user can in their account's settings. */
    revokeTokens: () => Promise.all(tokens.splice(0).map((token) => token.destroy())),
    stop: () => new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    }),
  };
}

function configuration({ accounts, callbacks, more }) {
  return {
    clients: Object.values(CLIENTS).map((client) => ({ ...client, redirect_uris: callbacks, grant_types: ["authorization_code"] })),
    jwks: { keys: [newKey()] },
    cookies: { keys: ["a key of cookies"] },
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "picture"] },
    pkce: { required: () => true },
    findAccount: (_, sub) => accounts.has(sub) && { accountId: sub, claims: () => accounts.get(sub) },
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    features: { devInteractions: { enabled: false } },
    ttl: { AccessToken: 3600, AuthorizationCode: 60, Grant: 3600, IdToken: 3600, Interaction: 600, Session: 3600 },
    ...more,
  };
}

/** The provider's pages: login and consent. */
async function interact(provider, request, response) {
  const details = await provider.interactionDetails(request, response);
  if (request.method !== "POST") return page(response, details.prompt.name);
  const form = new URLSearchParams(await text(request));
  await provider.interactionFinished(request, response, await outcome(provider, details, form), { mergeWithLastSubmission: true });
}

async function outcome(provider, { prompt, session, params, grantId }, form) {
  if (form.has("deny")) return { error: "access_denied", error_description: "the user denied access" };
  if (prompt.name === "login") return { login: { accountId: form.get("login") } };
  const grant = grantId ? await provider.Grant.find(grantId) : new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  grant.addOIDCScope((prompt.details.missingOIDCScope ?? []).join(" "));
  return { consent: { grantId: await grant.save() } };
}

function page(response, name) {
  const question = name === "login" ? '<input name="login"><button>Log in</button>' : "<button>Allow</button><button name=\"deny\">Deny</button>";
  response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
  response.end(`<!doctype html><title>${name}</title><link rel="icon" href="data:,"><form method="post" id="${name}">${question}</form>`);
}

async function text(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString();
}
