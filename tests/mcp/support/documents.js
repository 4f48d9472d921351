// The web server on which an MCP client publishes its metadata documents. The URL of a document is
// the id of its client.

import { once } from "node:events";
import { createServer } from "node:https";

/** Starts the server until the end of the test. */
export async function startDocuments(t, pem) {
  const published = new Map();
  const requests = [];
  const server = createServer({ key: pem, cert: pem }, (request, response) => {
    requests.push(request.url);
    const { status = 200, headers, body } = published.get(request.url) ?? { status: 404, body: "" };
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const origin = `https://localhost:${server.address().port}`;
  const publish = (path, answer) => {
    published.set(path, answer);
    return `${origin}${path}`;
  };
  return {
    origin,
    /** The paths that were requested. */
    requests,
    /** Answers a path with a status, headers and a body; returns its URL. */
    publish,
    /** Publishes a client's document, with changes; returns the client's id. */
    publishClient: (redirect_uri, fields, path = "/client.json") => publish(path, {
      body: JSON.stringify({
        client_id: `${origin}${path}`, client_name: "Scribe", redirect_uris: [redirect_uri], token_endpoint_auth_method: "none",
        grant_types: ["authorization_code", "refresh_token"], response_types: ["code"], ...fields,
      }),
    }),
  };
}
