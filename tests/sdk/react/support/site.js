// The app, which Vite builds and serves on a separate port, as for developers.

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".json": "application/json" };
const APP = fileURLToPath(new URL("../app/", import.meta.url));
const BUILT = process.env.REACT_BUILT;

/** Builds the app into a folder. */
export function buildApp(folder) {
  return build({
    root: APP,
    configFile: false,
    logLevel: "error",
    esbuild: { jsx: "automatic" },
    build: { outDir: folder, emptyOutDir: true, target: "es2022", minify: false, reportCompressedSize: false, chunkSizeWarningLimit: 100_000 },
  });
}

/**
 * Serves the built app with these SDK options; paths without a file serve the page.
 */
export async function startSite(options) {
  if (!BUILT) throw new Error("REACT_BUILT is not set: these tests are started by tests/sdk/react/run");
  const page = await readFile(join(BUILT, "index.html"));
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    const file = join(BUILT, normalize(pathname));
    const body = pathname === "/config.json" ? JSON.stringify(options) : extname(pathname) ? await readFile(file).catch(() => null) : page;
    response.writeHead(body === null ? 404 : 200, { "content-type": TYPES[extname(pathname)] ?? TYPES[".html"], "cache-control": "no-store" });
    response.end(body ?? "");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = () => new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  });
  return { url: `http://localhost:${server.address().port}`, stop };
}
