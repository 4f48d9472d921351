// The web server of a client, which its users return to.

import { once } from "node:events";
import { createServer } from "node:http";
import { createServer as createSecureServer } from "node:https";

import { newCertificate } from "../../sdk/support/mail-server.js";
import { until } from "../../sdk/support/until.js";

/**
 * Starts the server until the end of the test. On the web (`isOnWeb`), it has https and a name,
 * which Chromium resolves to this machine. Otherwise it is a program on the user's own machine.
 */
export async function startApp(t, { isOnWeb = false } = {}) {
  const returns = [];
  const handle = async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end('<!doctype html><title>Notes</title><link rel="icon" href="data:,">');
    const { method, headers } = request;
    const body = method === "POST" ? Buffer.concat(parts) : undefined;
    returns.push(new Request(new URL(request.url, it.origin), { method, headers: { "content-type": headers["content-type"] ?? "" }, body }));
  };
  const { pem } = isOnWeb ? newCertificate() : {};
  const server = isOnWeb ? createSecureServer({ key: pem, cert: pem }, handle) : createServer(handle);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address();
  const it = { port, origin: isOnWeb ? `https://notes.localhost:${port}` : `http://127.0.0.1:${port}` };
  return Object.assign(it, {
    redirectUri: `${it.origin}/callback`,
    /** Waits for the next return of a user; gives the browser's request. */
    next: () => until(() => returns.shift(), "a user who returns"),
  });
}
