// Code shared by the pages of resources.

import { scopeRows } from "../components/scope-rows.js";
import { link } from "../components/parts.js";
import { resources as words } from "../texts-oauth-resources.js";

export const PATH = "/internal/oauth-resources";

export const guide = () => link("/docs/api/openid", words.guide);

/** The fields that a resource has from the start. */
export const fields = {
  name: { name: "name", label: words.name, required: true, help: words.nameHelp },
  identifier: {
    name: "identifier",
    label: words.identifier,
    input: "url",
    required: true,
    help: words.identifierHelp,
    placeholder: "https://mcp.example.com/mcp",
  },
  scopes: { name: "scopes", label: words.scopes, type: scopeRows, help: words.scopesHelp },
};
