// Reads a site's documents with npm packages; fails at the first invalid one.
import assert from "node:assert/strict";
import Ajv from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { Validator } from "@seriousme/openapi-schema-validator";
import { parseAtomFeed, parseJsonFeed } from "feedsmith";
import { HtmlValidate } from "html-validate";
import * as shapes from "./shapes.mjs";

const [site] = process.argv.slice(2);
const text = async (path) => (await fetch(new URL(path, site))).text();

const atom = parseAtomFeed(await text("/feed.xml"));
assert.equal(atom.entries.length, 3);
assert.ok(atom.entries.every((entry) => entry.id && entry.title && entry.updated && entry.links.length > 0));
const feed = parseJsonFeed(await text("/feed.json"));
assert.deepEqual(feed.items.map((item) => item.id), atom.entries.map((entry) => entry.id));

const ajv = addFormats(new Ajv({ allErrors: true }));
const documents = {
  "/feed.json": shapes.jsonFeed,
  "/.well-known/api-catalog": shapes.linkset,
  "/.well-known/ai-catalog.json": shapes.aiCatalog,
  "/.well-known/agent-card.json": shapes.agentCard,
  "/mcp/server-card": shapes.serverCard,
};
for (const [path, shape] of Object.entries(documents)) {
  const isValid = ajv.compile(shape);
  assert.ok(isValid(JSON.parse(await text(path))), `${path}: ${JSON.stringify(isValid.errors, null, 1)}`);
}

const described = await new Validator().validate(JSON.parse(await text("/openapi.json")));
assert.ok(described.valid, JSON.stringify(described.errors, null, 1));

const map = await text("/sitemap.xml");
const listed = [...map.matchAll(/<loc>([^<]+)<\/loc>/g)].map(([, url]) => url);
const pages = [...listed, site];
assert.ok(pages.length > 5);
// HTML allows any case for the doctype and a trailing slash in void elements, and how long a title
// is depends on the content.
const rules = { "doctype-style": "off", "long-title": "off", "no-inline-style": "error", "void-style": "off" };
const validator = new HtmlValidate({ extends: ["html-validate:recommended"], rules });
for (const page of pages) {
  const report = await validator.validateString(await text(page));
  assert.ok(report.valid, `${page}: ${JSON.stringify(report.results[0]?.messages, null, 1)}`);
}
console.log(`${Object.keys(documents).length} documents have their shapes, ${pages.length} pages are valid`);
