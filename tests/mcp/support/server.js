// An MCP server with the official SDK, which accepts only access tokens that the project has issued
// for it. Reading notes needs one scope, and writing notes another one.

import { once } from "node:events";
import { createServer } from "node:http";

import { createMcpExpressApp, getOAuthProtectedResourceMetadataUrl, mcpAuthMetadataRouter, requireBearerAuth } from "@modelcontextprotocol/express";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { McpServer, OAuthError, OAuthErrorCode, createMcpHandler, requireScopes } from "@modelcontextprotocol/server";
import { createRemoteJWKSet, errors, jwtVerify } from "jose";
import { z } from "zod";

import { SCOPES } from "./world.js";

/** Starts the server until the end of the test, and registers it in the project. */
export async function startMcp(t, w, fields) {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${server.address().port}/mcp`;
  const { id } = await w.newResource(url, fields);
  server.on("request", app(new URL(url), w.issuer(), await w.metadata()));
  return { id, url };
}

function app(resource, issuer, metadata) {
  const resourceMetadataUrl = getOAuthProtectedResourceMetadataUrl(resource);
  const handler = toNodeHandler(createMcpHandler(newServer));
  const made = createMcpExpressApp();
  made.use(mcpAuthMetadataRouter({ oauthMetadata: metadata, resourceServerUrl: resource, scopesSupported: SCOPES.map(({ name }) => name) }));
  const verifier = verifierOf(resource, issuer, createRemoteJWKSet(new URL(metadata.jwks_uri)));
  made.all(resource.pathname, requireBearerAuth({ verifier, resourceMetadataUrl, expectedResource: resource, requiredScopes: ["notes:read"] }), (request, response) => handler(request, response, request.body));
  return made;
}

function verifierOf(resource, issuer, keys) {
  return {
    verifyAccessToken: async (token) => {
      try {
        const { payload } = await jwtVerify(token, keys, { issuer, audience: resource.href, typ: "at+jwt", algorithms: ["ES256", "RS256"], requiredClaims: ["exp", "sub", "client_id"] });
        return { token, clientId: payload.client_id, scopes: payload.scope?.split(" ") ?? [], expiresAt: payload.exp, resource, extra: { sub: payload.sub } };
      } catch (error) {
        if (!(error instanceof errors.JOSEError)) throw error;
        throw new OAuthError(OAuthErrorCode.InvalidToken, error.code);
      }
    },
  };
}

/** The server of one request, with the notes of the user whom the token names. */
function newServer({ authInfo }) {
  const server = new McpServer({ name: "notes", version: "1.0.0" });
  const text = (text) => ({ content: [{ type: "text", text }] });
  server.registerTool("read_notes", { description: "Returns the user's notes" }, () => text(`Notes of ${authInfo.extra.sub}`));
  // Names both scopes, because a new token has only the scopes that a program asks for.
  const write = { description: "Writes a note", inputSchema: z.object({ note: z.string() }), scopeChallenge: requireScopes("notes:read", "notes:write") };
  server.registerTool("write_note", write, ({ note }) => text(`Written for ${authInfo.extra.sub}: ${note}`));
  return server;
}
