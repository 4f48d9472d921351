// Shapes of documents without a schema in any package, with the fields that Gatelet writes. In a
// closed shape, any other field fails, even if the specification allows it.

const object = (required, properties, rest = {}) => ({ type: "object", required, properties, ...rest });
const list = (items) => ({ type: "array", items, minItems: 1 });
const text = { type: "string", minLength: 1 };
const url = { type: "string", format: "uri", pattern: "^https?://" };
const time = { type: "string", format: "date-time", pattern: "T.*Z$" };
const closed = { additionalProperties: false };

/** JSON Feed 1.1, with recommended fields. */
export const jsonFeed = object(["version", "title", "home_page_url", "feed_url", "authors", "language", "items"], {
  version: { const: "https://jsonfeed.org/version/1.1" },
  title: text,
  description: text,
  home_page_url: url,
  feed_url: url,
  authors: list(object(["name"], { name: text })),
  language: text,
  items: list(object(["id", "url", "title", "summary", "date_published"], {
    id: text, url, title: text, summary: text, date_published: time, date_modified: time, content_text: text, content_html: text, image: url,
  }, { anyOf: [{ required: ["content_text"] }, { required: ["content_html"] }], ...closed })),
}, closed);

/** A set of links (RFC 9264), with at least the catalog's own (RFC 9727). */
const targets = list(object(["href"], { href: url, type: text, title: text, hreflang: list(text) }, closed));
export const linkset = object(["linkset"], {
  linkset: list(object(["anchor"], { anchor: url }, { minProperties: 2, additionalProperties: targets })),
}, closed);
linkset.properties.linkset.contains = { type: "object", required: ["item"] };

export const aiCatalog = object(["specVersion", "host", "entries"], {
  specVersion: { const: "1.0" },
  host: object(["displayName"], { displayName: text }),
  entries: list(object(["identifier", "displayName", "type", "mediaType", "url"], {
    identifier: { type: "string", pattern: "^urn:air:" }, displayName: text, type: text, mediaType: text, url,
  }, { not: { required: ["data"] } })),
});

/** The card of an A2A agent, without the fields of version 0.3. */
export const agentCard = object(
  ["name", "description", "version", "supportedInterfaces", "capabilities", "defaultInputModes", "defaultOutputModes", "skills"],
  {
    name: text,
    description: text,
    version: text,
    documentationUrl: url,
    supportedInterfaces: list(object(["url", "protocolBinding", "protocolVersion"], {
      url, protocolBinding: { enum: ["JSONRPC", "GRPC", "HTTP+JSON"] }, protocolVersion: { const: "1.0" },
    }, closed)),
    capabilities: object([], { streaming: { type: "boolean" }, pushNotifications: { type: "boolean" }, extendedAgentCard: { type: "boolean" } }, closed),
    defaultInputModes: list(text),
    defaultOutputModes: list(text),
    skills: list(object(["id", "name", "description", "tags"], { id: text, name: text, description: text, tags: list(text), examples: list(text) }, closed)),
  },
  closed,
);

/** The card of an MCP server (SEP-2127). */
export const serverCard = object(["$schema", "name", "version", "description", "remotes"], {
  $schema: { const: "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json" },
  name: { type: "string", minLength: 3, maxLength: 200, pattern: "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$" },
  version: text,
  description: { type: "string", minLength: 1, maxLength: 100 },
  title: { type: "string", maxLength: 100 },
  websiteUrl: url,
  remotes: list(object(["type", "url", "supportedProtocolVersions"], { type: { const: "streamable-http" }, url, supportedProtocolVersions: list(text) })),
}, closed);
