// Calls the endpoints for agents with npm's clients; fails at the first wrong answer.
import assert from "node:assert/strict";
import { ClientFactory } from "@a2a-js/sdk/client";
import * as modern from "@modelcontextprotocol/client";
import { Client as EarlierClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as EarlierTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [site] = process.argv.slice(2);
const me = { name: "read", version: "1.0.0" };
const endpoint = () => new URL(`${site}/mcp`);

/** Uses everything the server declares. */
async function use(client, called) {
  const { tools } = await client.listTools();
  assert.equal(tools[0].name, "list_apps", called);
  const app = await client.callTool({ name: "get_app", arguments: { appId: "notes" } });
  assert.equal(app.structuredContent.data.id, "notes", called);
  const none = await client.callTool({ name: "get_app", arguments: { appId: "none" } });
  assert.ok(none.isError, called);
  const { resources } = await client.listResources();
  assert.equal(resources.length, 2 + 3, called);
  for (const { uri, mimeType } of resources) {
    const { contents } = await client.readResource({ uri });
    const fetched = await fetch(uri);
    assert.equal(contents[0].text, await fetched.text(), `${called}: ${uri}`);
    assert.deepEqual([contents[0].mimeType, mimeType], Array(2).fill(fetched.headers.get("content-type")), `${called}: ${uri}`);
  }
  await assert.rejects(client.readResource({ uri: `${site}/blog/none.md` }), { code: -32602 }, called);
  const { resourceTemplates } = await client.listResourceTemplates();
  assert.equal(resourceTemplates[0].uriTemplate, `${site}/blog/{slug}.md`, called);
  assert.deepEqual((await client.listPrompts()).prompts, [], called);
  await client.close();
}

const earlier = new EarlierClient(me);
await earlier.connect(new EarlierTransport(endpoint()));
await use(earlier, "sdk");
for (const mode of ["legacy", "auto", { pin: "2026-07-28" }]) {
  const client = new modern.Client(me, { versionNegotiation: { mode } });
  await client.connect(new modern.StreamableHTTPClientTransport(endpoint()));
  await use(client, `client, ${JSON.stringify(mode)}`);
}

const agent = await new ClientFactory().createFromUrl(site);
const parts = [{ content: { $case: "text", value: "mail scanner" } }];
const answer = await agent.sendMessage({ message: { messageId: "m1", contextId: "c1", role: "ROLE_USER", parts } });
assert.equal(answer.contextId, "c1");
assert.deepEqual(answer.parts.map(({ mediaType }) => mediaType), ["text/plain", "application/json"]);
assert.equal(answer.parts[1].content.value.found[0].url, `${site}/blog/codes-that-survive-a-mail-scanner`);
await assert.rejects(agent.getTask({ id: "none" }), /no such task/);
