// OAuth clients of a console's gateway, and users who sign in to them.

import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";

const VERIFIER = "a-verifier-of-at-least-forty-three-characters";

/** What a client's software and its users do; `it` is the console of `console.js`. */
export function relyingParty(it) {
  const issuer = () => `${it.gateway.url}/api/v1/projects/${it.gateway.projectId}`;

  /** A request to the token endpoint with these credentials; returns status and body. */
  const token = async ({ id, client_secret: secret }, fields) => {
    const body = new URLSearchParams({ client_id: id, ...(secret && { client_secret: secret }), ...fields });
    const answer = await fetch(`${issuer()}/oauth2/token`, { method: "POST", body });
    return { status: answer.status, ...(await answer.json()) };
  };

  const asUser = async (tokens, path, body) => {
    const answer = await fetch(`${it.gateway.url}/api/v1/auth/oauth2${path}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-service-access-type": "client",
        "x-service-project-id": it.gateway.projectId,
        "x-service-publishable-client-key": it.gateway.publishableClientKey,
        "x-service-access-token": tokens.access_token,
        "x-service-refresh-token": tokens.refresh_token,
      },
      body: JSON.stringify(body),
    });
    const read = await answer.json();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${JSON.stringify(read)}`);
    return read;
  };

  return {
    newClient: (fields) =>
      it.call("POST", "/internal/oauth-clients", {
        name: "Notes",
        client_type: "confidential",
        redirect_uris: ["https://notes.example.com/callback"],
        ...fields,
      }),

    /** Whether the token endpoint knows the client by its secret. */
    isKnown: async (id, secret) => {
      const { error } = await token({ id, client_secret: secret }, { grant_type: "refresh_token", refresh_token: "x" });
      return error === "invalid_grant";
    },

    /**
     * Serves a metadata document until the test ends; returns the client that it describes. The
     * gateway must accept documents on this machine.
     */
    documented: async (t, fields) => {
      const client = { client_name: "Agent", redirect_uris: ["http://localhost/callback"], token_endpoint_auth_method: "none", ...fields };
      const server = createServer((_, answer) => answer.setHeader("content-type", "application/json").end(JSON.stringify(client)));
      await once(server.listen(0, "127.0.0.1"), "listening");
      t.after(() => server.close());
      client.client_id = `http://127.0.0.1:${server.address().port}/client.json`;
      return { id: client.client_id, redirect_uris: client.redirect_uris };
    },

    /** Registers a client at its own request. */
    registered: async (fields) => {
      const answer = await fetch(`${issuer()}/oauth2/register`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ client_name: "Agent", redirect_uris: ["http://127.0.0.1/callback"], ...fields }),
      });
      const { client_id: id, redirect_uris } = await answer.json();
      return { id, redirect_uris };
    },

    newResource: (fields) =>
      it.call("POST", "/internal/oauth-resources", {
        identifier: "https://mcp.example.com/mcp",
        name: "Notes server",
        scopes: [{ name: "notes:read", description: "Read your notes" }],
        ...fields,
      }),

    /**
     * A user signs in to a client, and allows what it asks for; returns the client's tokens, which
     * are for the first of the resources, if any.
     */
    consent: async (client, user, scope = "openid profile email offline_access", resources = []) => {
      const session = await it.call("POST", "/auth/sessions", { user_id: user.id });
      const [redirect] = client.redirect_uris;
      const parameters = new URLSearchParams({
        response_type: "code",
        client_id: client.id,
        redirect_uri: redirect,
        scope,
        code_challenge: createHash("sha256").update(VERIFIER).digest("base64url"),
        code_challenge_method: "S256",
      });
      for (const resource of resources) parameters.append("resource", resource);
      const { request } = await asUser(session, "/authorizations", { parameters: `${parameters}` });
      const { redirection } = await asUser(session, "/authorizations/complete", { request, consent: "allow", is_account_chosen: true });
      const code = new URL(redirection.url).searchParams.get("code");
      const [resource] = resources;
      const fields = { grant_type: "authorization_code", code, redirect_uri: redirect, code_verifier: VERIFIER, ...(resource && { resource }) };
      const tokens = await token(client, fields);
      if (tokens.status !== 200) throw new Error(JSON.stringify(tokens));
      return tokens;
    },

    /** The status of the userinfo endpoint's answer to an access token. */
    userinfo: async ({ access_token: access }) => (await fetch(`${issuer()}/oauth2/userinfo`, { headers: { authorization: `Bearer ${access}` } })).status,

    refresh: (client, { refresh_token: refresh }) => token(client, { grant_type: "refresh_token", refresh_token: refresh }),
  };
}
