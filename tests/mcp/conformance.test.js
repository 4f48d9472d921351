// npm's `@modelcontextprotocol/conformance`: its tests of authorization servers, as each kind of
// client. The package prints a link, and waits for a user.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { world } from "./support/world.js";

const w = world();
const RESOURCE = "http://localhost:9401/mcp";
const REVISION = "2026-07-28";
// The package's redirect URI, with whatever port.
const REDIRECT_URI = "http://127.0.0.1/callback";

const modules = fileURLToPath(new URL("node_modules/", import.meta.url));
// The package does not run on Node.js 20.
const newer = join(modules, `node-linux-${process.arch}`, "bin", "node");
const node = existsSync(newer) ? newer : process.execPath;

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

/** Runs the tests as a client, while somebody signs up; returns the checks by their names. */
async function run(t, clientId) {
  const [port, folder, it] = [await freePort(), await mkdtemp(join(tmpdir(), "conformance-")), await w.newcomer(t)];
  t.after(() => rm(folder, { recursive: true }));
  const options = { url: w.issuer(), "client-id": clientId, resource: RESOURCE, port, "spec-version": REVISION, "output-dir": folder };
  const command = [join(modules, "@modelcontextprotocol/conformance/dist/index.js"), "authorization", ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])];
  const child = spawn(node, command, { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => child.kill());
  const ended = once(child, "exit");
  let printed = "";
  for await (const line of createInterface({ input: child.stdout })) {
    printed += `${line}\n`;
    if (!line.startsWith(w.issuer())) continue;
    await it.signsUpAt(line);
    await it.allows();
  }
  const [code] = await ended;
  assert.equal(code, 0, printed);
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith("checks.json"));
  const checks = await Promise.all(files.map(async (name) => JSON.parse(await readFile(join(folder, name), "utf8"))));
  it.check();
  return Object.fromEntries(checks.flat().map(({ id, status, errorMessage }) => [id, errorMessage ? `${status}: ${errorMessage}` : status]));
}

const CLIENTS = {
  "with a metadata document": async (t) => (await w.documents(t)).publishClient(REDIRECT_URI),
  "that registers itself": async () => (await w.register({ client_name: "Scribe", redirect_uris: [REDIRECT_URI], token_endpoint_auth_method: "none", application_type: "native" })).body.client_id,
  "of the project": async () => (await w.newClient({ client_type: "public", redirect_uris: [REDIRECT_URI] })).id,
};

let resource;
for (const [name, newId] of Object.entries(CLIENTS)) {
  test(`the provider conforms to revision ${REVISION} for a client ${name}`, async (t) => {
    await (resource ??= w.started.then(() => w.newResource(RESOURCE)));
    assert.deepEqual(await run(t, await newId(t)), {
      "authorization-server-metadata": "SUCCESS",
      "authorization-server-metadata-cimd": "SUCCESS",
      "authorization-code-grant": "SUCCESS",
    });
  });
}
