// Reads the documents of a site with packages of npm; fails at the first that is not as it must be.
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { parseAtomFeed, parseJsonFeed } from "feedsmith";
import { HtmlValidate } from "html-validate";

const [site, ...pages] = process.argv.slice(2);
const text = async (path) => (await fetch(site + path)).text();

const atom = parseAtomFeed(await text("/feed.xml"));
assert.equal(atom.entries.length, 3);
assert.ok(atom.entries.every((entry) => entry.id && entry.title && entry.updated && entry.links.length > 0));
const feed = parseJsonFeed(await text("/feed.json"));
assert.deepEqual(feed.items.map((item) => item.id), atom.entries.map((entry) => entry.id));

// Lines may be long, and an anchor may repeat the text of another.
const validator = new HtmlValidate({ extends: ["html-validate:recommended"], rules: { "long-title": "off", "no-inline-style": "error" } });
for (const page of pages) {
  const report = await validator.validateString(await text(page));
  assert.ok(report.valid, `${page}: ${JSON.stringify(report.results[0]?.messages, null, 1)}`);
}

// This client opens with `initialize`, as those of earlier revisions do.
const client = new Client({ name: "read", version: "1.0.0" });
await client.connect(new StreamableHTTPClientTransport(new URL(`${site}/mcp`)));
const { tools } = await client.listTools();
assert.equal(tools.length, 6);
const app = await client.callTool({ name: "get_app", arguments: { appId: "notes" } });
assert.equal(app.structuredContent.data.id, "notes");
await client.close();
