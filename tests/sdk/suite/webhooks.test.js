// Test events, which the project's administrator sends to a webhook endpoint.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import { test } from "node:test";
import { text } from "node:stream/consumers";

import { asAdmin } from "../support/gateway.js";
import { ok, world } from "../support/world.js";

// The endpoint of these tests is on this machine and does not use TLS.
const w = world({ GATELET_ALLOW_PRIVATE_ISSUERS: "1" });

/**
 * An endpoint that answers with this status, and its received requests. It subscribes to an event
 * that does not occur here, so it gets only test events.
 */
async function endpoint(t, status) {
  const received = [];
  const server = createServer(async (request, response) => {
    received.push({ headers: request.headers, body: await text(request) });
    response.writeHead(status).end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const url = `http://localhost:${server.address().port}/hooks`;
  const { id, secret } = await asAdmin(w.gateway, "POST", "/internal/webhook-endpoints", { url, event_types: ["user.deleted"] });
  return { id, url, secret, received };
}

test("a test event arrives, signed with the endpoint's secret", async (t) => {
  const { id, url, secret, received } = await endpoint(t, 204);
  ok(await w.admin().sendTestWebhook({ endpointId: id }));
  assert.equal(received.length, 1);
  const [{ headers, body }] = received;
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const signature = createHmac("sha256", key).update(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`).digest("base64");
  assert.equal(headers["webhook-signature"], `v1,${signature}`);
  const { type, data } = JSON.parse(body);
  assert.deepEqual([type, data.endpointUrl], ["endpoint.test", url]);
});

test("the SDK says why a test event failed", async (t) => {
  const { id } = await endpoint(t, 500);
  const failed = await w.admin().sendTestWebhook({ endpointId: id });
  assert.deepEqual(failed, { status: "error", error: { errorMessage: "the endpoint answered with status 500" } });
  const unknown = await w.admin().sendTestWebhook({ endpointId: "00000000-0000-4000-8000-000000000000" });
  assert.deepEqual([unknown.status, unknown.error.errorMessage], ["error", "the endpoint does not exist"]);
});
