// The settings of a project, and the API's description.

import assert from "node:assert/strict";
import { test } from "node:test";

import { exampleOf, operations, resolved } from "../../../infra/console/web/core/openapi.js";
import { AREAS, bodyOf, described, domainLines, domainsOf, valuesOf } from "../../../infra/console/web/core/settings.js";
import { changed } from "../../../infra/console/web/core/values.js";
import { settings as words } from "../../../infra/console/web/texts-settings.js";
import { headerLines, headersOf } from "../../../infra/console/web/views/webhooks.js";

const change = (area, before, now) => bodyOf(AREAS[area], now, changed(before, now));

test("only changed settings are sent, in the form of the API", () => {
  const project = {
    config: {
      domains: [{ domain: "https://a.example", handler_path: "/h" }],
      allow_localhost: true,
      require_publishable_client_key: false,
    },
  };
  const before = valuesOf(AREAS.domains, project);
  assert.deepEqual(before["config.domains"], ["https://a.example /h"]);
  assert.deepEqual(change("domains", before, { ...before, "config.domains": ["https://a.example /h", "https://b.example"] }), {
    config: { domains: [{ domain: "https://a.example", handler_path: "/h" }, { domain: "https://b.example" }] },
  });
  assert.deepEqual(change("domains", before, { ...before, "config.allow_localhost": false }), { config: { allow_localhost: false } });
  assert.deepEqual(change("domains", before, before), {});
});

test("every setting and option has a text, and every text belongs to a setting", () => {
  const fields = Object.values(AREAS).flat();
  const names = fields.map(({ name }) => name);
  const { labels, help, options } = words;
  assert.deepEqual(
    [labels, help, options].flatMap(Object.keys).filter((name) => !names.includes(name)),
    [],
  );
  for (const field of fields.filter(({ type, options: values }) => type === "choice" && values)) {
    assert.deepEqual(Object.keys(options[field.name] ?? {}), field.options, field.name);
  }
  assert.deepEqual(
    names.filter((name) => !labels[name]),
    [],
  );
});

test("domains and headers can be edited as lines without loss", () => {
  const domains = [{ domain: "https://*.example.com", handler_path: "/x" }, { domain: "http://localhost" }];
  assert.deepEqual(domainsOf(domainLines(domains)), domains);
  const headers = { "X-Token": "a: b", "X-Other": "c" };
  assert.deepEqual(headersOf(headerLines(headers)), headers);
  assert.deepEqual(headersOf(["XToken"]), { XToken: "" }, "a line without a colon is left to the API to refuse");
});

test("a mail server is sent as a whole, and the shared one without its fields", () => {
  const server = {
    type: "standard",
    host: "smtp.example.com",
    port: 587,
    username: "u",
    password: "********",
    sender_email: "a@example.com",
    sender_name: "A",
  };
  const before = valuesOf(AREAS.emails, {
    config: {
      email_theme: "t",
      email_config: server,
    },
  });
  const sender = { ...before, "config.email_config.sender_name": "B" };
  assert.deepEqual(change("emails", before, sender).config, {
    email_config: { ...server, sender_name: "B" },
  });
  assert.deepEqual(change("emails", before, { ...before, "config.email_config.type": "shared" }).config, {
    email_config: { type: "shared" },
  });
  assert.deepEqual(change("emails", before, { ...before, "config.email_theme": "t2" }).config, { email_theme: "t2" });
});

const DOCUMENT = {
  paths: {
    "/x": {
      post: { operationId: "x", requestBody: { content: { "application/json": { schema: { $ref: "#/components/schemas/X" } } } } },
      head: {},
    },
  },
  components: {
    schemas: {
      X: {
        type: "object",
        required: ["name", "kind", "to"],
        properties: {
          name: { type: "string", description: "The\n`name`." },
          kind: { enum: ["a", "b"] },
          to: { $ref: "#/components/schemas/To" },
          config: { oneOf: [{ type: "null" }, { $ref: "#/components/schemas/To" }] },
        },
      },
      To: {
        type: "object",
        properties: { self: { $ref: "#/components/schemas/To" }, depth: { type: ["integer", "null"], description: "How deep." } },
      },
    },
  },
};

test("help texts and examples come from the description of the API", () => {
  const [operation] = operations(DOCUMENT);
  assert.deepEqual([operation.method, operation.path, operation.id], ["POST", "/x", "x"]);
  assert.equal(described(DOCUMENT, operation, "name"), "The name.");
  assert.equal(described(DOCUMENT, operation, "config.depth"), "How deep.");
  assert.equal(described(DOCUMENT, operation, "nothing"), "");
  const schema = operation.requestBody.content["application/json"].schema;
  assert.deepEqual(exampleOf(DOCUMENT, schema), { name: "", kind: "a", to: {} });
  assert.ok(resolved(DOCUMENT, { $ref: "#/components/schemas/To" }), "a schema that contains itself ends");
});
