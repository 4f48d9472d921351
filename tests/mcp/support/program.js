// An MCP client: a program on the user's machine that knows nothing but the URL of an MCP server.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";

import * as current from "@modelcontextprotocol/client";
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

/** The SDK's two lines, and the revision of the protocol that each one speaks. */
export const LIBRARIES = {
  "@modelcontextprotocol/client": {
    newClient: () => new current.Client({ name: "scribe", version: "1.0.0" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } }),
    newTransport: (url, authProvider) => new current.StreamableHTTPClientTransport(url, { authProvider }),
    UnauthorizedError: current.UnauthorizedError,
    finish: (transport, answer) => transport.finishAuth(answer),
  },
  "@modelcontextprotocol/sdk": {
    newClient: () => new Client({ name: "scribe", version: "1.0.0" }),
    newTransport: (url, authProvider) => new StreamableHTTPClientTransport(url, { authProvider }),
    UnauthorizedError,
    finish: (transport, answer) => transport.finishAuth(answer.get("code")),
  },
};

/** What the program keeps between runs, as the SDK asks for it. `kept` shows it to the test. */
export function newProvider(redirectUri, clientMetadataUrl) {
  const kept = {};
  const keeps = (name) => (value) => {
    kept[name] = value;
  };
  const gives = (name) => () => kept[name];
  return {
    kept,
    clientMetadataUrl,
    redirectUrl: redirectUri,
    clientMetadata: {
      client_name: "Scribe", redirect_uris: [redirectUri], token_endpoint_auth_method: "none",
      grant_types: ["authorization_code", "refresh_token"], response_types: ["code"],
    },
    state: () => (kept.state = randomUUID()),
    clientInformation: gives("client"),
    saveClientInformation: keeps("client"),
    tokens: gives("tokens"),
    saveTokens: keeps("tokens"),
    codeVerifier: gives("verifier"),
    saveCodeVerifier: keeps("verifier"),
    discoveryState: gives("discovery"),
    saveDiscoveryState: keeps("discovery"),
    redirectToAuthorization: keeps("link"),
  };
}

/**
 * Starts the program, which connects once its user has been to `visits` with the link that the
 * program shows. Returns its client, and `stepsUp`, which repeats what the server has refused.
 */
export async function connect(library, provider, url, visits) {
  const { newClient, newTransport, finish } = LIBRARIES[library];
  const open = () => newTransport(new URL(url), provider);
  /** Does something that is refused, lets the user sign in, and does it again. */
  const authorized = async (transport, first, again = first) => {
    await assert.rejects(first(), LIBRARIES[library].UnauthorizedError);
    const answer = new URL((await visits(provider.kept.link.href)).url).searchParams;
    assert.equal(answer.get("state"), provider.kept.state);
    await finish(transport, answer);
    return again();
  };
  const [client, begun, transport] = [newClient(), open(), open()];
  await authorized(begun, () => newClient().connect(begun), () => client.connect(transport));
  return { client, stepsUp: (attempt) => authorized(transport, attempt) };
}

/** The text of a tool's result. */
export const textOf = ({ content }) => content.map(({ text }) => text).join("\n");
