// PyPI's `fastmcp`: its client signs in to its server, which verifies the project's tokens.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { decodeJwt } from "jose";

import { until } from "../sdk/support/until.js";
import { world } from "./support/world.js";

const w = world();

function python(t, name, variables) {
  const child = spawn(process.env.PYTHON, [fileURLToPath(new URL(`support/${name}.py`, import.meta.url))], {
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1", ...variables },
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => child.kill());
  return child;
}

/** Starts the server until the end of the test; returns its URL. */
async function startServer(t) {
  const reserved = createServer().listen(0, "127.0.0.1");
  await once(reserved, "listening");
  const RESOURCE = `http://127.0.0.1:${reserved.address().port}/mcp`;
  reserved.close();
  await once(reserved, "close");
  await w.newResource(RESOURCE);
  const child = python(t, "fastmcp_server", { ISSUER: w.issuer(), RESOURCE });
  child.stdout.resume();
  await until(async () => (assert.equal(child.exitCode, null, "the server has ended"), fetch(RESOURCE).catch(() => null)), "the server's answer");
  return RESOURCE;
}

for (const hasDocument of [true, false]) {
  test(`fastmcp's client uses a server ${hasDocument ? "with its metadata document" : "after registering itself"}`, async (t) => {
    const [RESOURCE, it] = [await startServer(t), await w.newcomer(t)];
    // The client's own page, where the user ends, shows a picture from the web.
    await it.context.route(/^https:/, (route) => route.fulfill({ status: 204 }));
    // The client listens at a free port of this host.
    const DOCUMENT = hasDocument ? (await w.documents(t)).publishClient("http://localhost/callback") : "";
    // Prints the links instead of opening them.
    const child = python(t, "fastmcp_client", { RESOURCE, DOCUMENT, BROWSER: "echo %s" });
    const ended = once(child, "exit");
    const links = [];
    let last;
    for await (const line of createInterface({ input: child.stdout })) {
      last = line;
      if (!line.startsWith(w.issuer())) continue;
      links.push(new URL(line));
      if (links.length === 1) await it.signsUpAt(line);
      else await it.page.goto(line);
      await it.isAskedBy("Scribe", "localhost");
      await it.allows();
      await it.page.waitForURL((url) => url.hostname === "localhost" && url.pathname === "/callback");
    }
    assert.deepEqual([(await ended)[0], links.length], [0, 2], last);
    const got = JSON.parse(last);
    const [first, second] = got.tokens.map((token) => decodeJwt(token));
    if (hasDocument) assert.equal(got.client_id, DOCUMENT);
    assert.deepEqual([first.iss, first.aud, first.client_id], [w.issuer(), RESOURCE, got.client_id]);
    assert.deepEqual([got.read, got.written], [`Notes of ${first.sub}`, `Written for ${first.sub}: Milk`]);
    const has = ({ scope }, name) => scope.split(" ").includes(name);
    assert.deepEqual([has(first, "notes:read"), has(first, "notes:write")], [true, false], first.scope);
    assert.deepEqual([has(second, "notes:read"), has(second, "notes:write")], [true, true], second.scope);
    assert.ok(links.every((link) => link.searchParams.get("resource") === RESOURCE), `${links}`);
    it.check();
  });
}
