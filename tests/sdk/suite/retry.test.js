// The SDK's reaction to a limit: it waits as requested, and then retries. A proxy takes the place
// of a service that has reached its limit.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";

import { world } from "../support/world.js";

const w = world();

const RETRY_AFTER_SECONDS = 3;

/**
 * The SDK's two ways to get a response's status: the status itself, and a requested header.
 */
const FORMS = {
  "by its status": { status: 429, headers: {} },
  "by the actual-status header": { status: 200, headers: { "x-stack-actual-status": "429" } },
};

/** A proxy that rejects a path's first request as over a limit, and forwards all others. */
async function limited(path, form) {
  const times = [];
  const proxy = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    if (request.url === path) times.push(Date.now());
    if (request.url === path && times.length === 1) {
      response.writeHead(form.status, { "content-type": "application/json", "retry-after": RETRY_AFTER_SECONDS, ...form.headers });
      return response.end(JSON.stringify({ code: "RATE_LIMITED", error: "too many requests" }));
    }
    const { host, connection, "content-length": _, "transfer-encoding": __, ...headers } = request.headers;
    const body = chunks.length > 0 ? Buffer.concat(chunks) : undefined;
    const answer = await fetch(w.gateway.url + request.url, { method: request.method, headers, body });
    const passed = Object.fromEntries([...answer.headers].filter(([name]) => !["content-encoding", "content-length", "transfer-encoding"].includes(name)));
    response.writeHead(answer.status, passed);
    return response.end(Buffer.from(await answer.arrayBuffer()));
  });
  await new Promise((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${proxy.address().port}`, times, close: () => proxy.close() };
}

for (const [name, form] of Object.entries(FORMS)) {
  test(`a limit reported ${name} delays the next attempt as Retry-After requires`, async () => {
    const proxy = await limited("/api/v1/projects/current", form);
    try {
      const project = await w.client({ baseUrl: proxy.url }).getProject();
      assert.equal(project.id, w.gateway.projectId);
      assert.equal(proxy.times.length, 2);
      assert.ok(proxy.times[1] - proxy.times[0] >= RETRY_AFTER_SECONDS * 1000, `waited ${proxy.times[1] - proxy.times[0]} ms`);
    } finally {
      proxy.close();
    }
  });
}
