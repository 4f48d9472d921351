// A gateway sends events to a local receiver, which verifies them with each of the libraries.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, test } from "node:test";

import { Webhook as Standard } from "standardwebhooks";
import { Webhook as Svix } from "svix";

import { startGateway } from "../sdk/support/gateway.js";
import { until } from "../sdk/support/until.js";

let gateway, server, url;
const received = [];

before(async () => {
  gateway = await startGateway();
  server = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    received.push({ headers: request.headers, body: Buffer.concat(parts).toString() });
    response.writeHead(204).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${server.address().port}/hooks`;
});

after(async () => {
  server.close();
  server.closeAllConnections();
  await gateway.stop();
});

async function call(method, path, body) {
  const answer = await fetch(`${gateway.url}/api/v1${path}`, {
    method,
    headers: {
      "content-type": "application/json",
      "x-stack-access-type": "admin",
      "x-stack-project-id": gateway.projectId,
      "x-stack-super-secret-admin-key": gateway.superSecretAdminKey,
    },
    body: body && JSON.stringify(body),
  });
  assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${await answer.clone().text()}`);
  return answer.json();
}

/** Waits for an event about a user with this name; returns the first one. */
function arrival(name) {
  return until(() => received.find(({ body }) => JSON.parse(body).data.display_name === name), `an event of ${name}`);
}

/** Verifies a message with the Python library. */
function python(secret, { headers, body }) {
  const input = JSON.stringify({ secret, headers, body });
  return spawnSync(process.env.PYTHON, ["verify.py"], { input, encoding: "utf8" });
}

function accepts(secret, message, name) {
  // The libraries throw if they reject a message; not all of them return a message that they
  // accept.
  for (const Library of [Standard, Svix]) new Library(secret).verify(message.body, message.headers);
  assert.equal(JSON.parse(message.body).data.display_name, name);
  // Receivers with Svix's library may read only the headers that Svix defines.
  const own = Object.fromEntries(Object.entries(message.headers).filter(([header]) => header.startsWith("svix-")));
  assert.equal(Object.keys(own).length, 3);
  new Svix(secret).verify(message.body, own);
  const { status, stdout, stderr } = python(secret, message);
  assert.equal(status, 0, stderr);
  assert.equal(JSON.parse(stdout).data.display_name, name);
}

function refuses(secret, message) {
  for (const Library of [Standard, Svix]) assert.throws(() => new Library(secret).verify(message.body, message.headers));
  assert.match(python(secret, message).stderr, /refused/);
}

test("every library accepts an event, and refuses it after it was changed", async () => {
  const { id, secret } = await call("POST", "/internal/webhook-endpoints", { url, event_types: ["user.created"] });
  await call("POST", "/users", { display_name: "Ada ü" });
  const message = await arrival("Ada ü");
  accepts(secret, message, "Ada ü");
  refuses(secret, { ...message, body: message.body.replace("Ada", "Eve") });
  const old = String(Number(message.headers["webhook-timestamp"]) - 3600);
  refuses(secret, { ...message, headers: { ...message.headers, "webhook-timestamp": old, "svix-timestamp": old } });

  const rotated = await call("POST", `/internal/webhook-endpoints/${id}/rotate-secret`, { expire_previous_in_millis: 60_000 });
  await call("POST", "/users", { display_name: "Grace" });
  const both = await arrival("Grace");
  accepts(secret, both, "Grace");
  accepts(rotated.secret, both, "Grace");
  await call("POST", `/internal/webhook-endpoints/${id}/rotate-secret`, { expire_previous_in_millis: 0 });
  await call("POST", "/users", { display_name: "Edsger" });
  const last = await arrival("Edsger");
  refuses(secret, last);
  refuses(rotated.secret, last);
});
