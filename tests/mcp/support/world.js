// A gateway whose project signs in the users of MCP servers. It accepts every MCP client that has a
// metadata document or registers itself.

import { newCertificate } from "../../sdk/support/mail-server.js";
import { world as openid } from "../../openid/support/world.js";
import { startDocuments } from "./documents.js";

export const SCOPES = [
  { name: "notes:read", description: "Read your notes" },
  { name: "notes:write", description: "Write new notes" },
];

/** Starts a gateway and a browser before a file's tests, and stops them afterwards. */
export function world() {
  const certificate = newCertificate();
  const it = openid({
    config: { oauth_client_documents_enabled: true, oauth_client_registration_enabled: true },
    // The metadata documents are on this machine, behind a certificate of the tests.
    settings: { GATELET_ALLOW_PRIVATE_ISSUERS: "1", SSL_CERT_FILE: certificate.file },
  });
  return Object.assign(it, {
    /** Registers a service, whose tokens have its URL as the audience. */
    newResource: (identifier, fields) => it.admin("POST", "/internal/oauth-resources", { identifier, name: "Notes", scopes: SCOPES, ...fields }),
    metadata: async () => (await fetch(`${it.issuer()}/.well-known/oauth-authorization-server`)).json(),
    /** The web server of an MCP client's metadata documents. */
    documents: (t) => startDocuments(t, certificate.pem),
    /** Registers a client as RFC 7591 says; returns status and body. */
    register: async (fields) => {
      const { registration_endpoint } = await it.metadata();
      const response = await fetch(registration_endpoint, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(fields) });
      return { status: response.status, body: await response.json() };
    },
  });
}
