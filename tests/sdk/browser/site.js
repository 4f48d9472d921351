// The site of the app: its page and the bundled SDK, on a separate port, so that every call is
// cross-origin as in production.

import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

async function bundle(version, folder) {
  const result = await build({
    entryPoints: [fileURLToPath(new URL("main.js", folder))],
    alias: { sdk: here(`../${version}/sdk.js`) },
    bundle: true,
    write: false,
    format: "esm",
    platform: "browser",
    target: "es2022",
    define: { "process.env.NODE_ENV": '"production"' },
    logLevel: "error",
  });
  return result.outputFiles[0].text;
}

/**
 * Serves a folder's app with this version of the SDK. Paths without a file serve the page, whose
 * script reads the URL.
 */
export async function startSite(version, config, folder = new URL("page/", import.meta.url)) {
  const files = {
    "/main.js": ["text/javascript", await bundle(version, folder)],
    "/config.json": ["application/json", JSON.stringify(config)],
  };
  const page = ["text/html; charset=utf-8", await readFile(new URL("index.html", folder))];
  const server = createServer((request, response) => {
    const [type, body] = files[new URL(request.url, "http://localhost").pathname] ?? page;
    response.writeHead(200, { "content-type": type, "cache-control": "no-store" });
    response.end(body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = () => new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  });
  return { url: `http://localhost:${server.address().port}`, stop };
}
