// Settings of an OAuth client: redirect URIs, what users see, and tokens.

import { form, saves } from "../components/form.js";
import { clients as words } from "../texts-oauth-clients.js";
import { algorithm, fields } from "./client-common.js";

/** A form with some of a client's fields. */
const settings = ({ client, resource, show }, ...its) => form({ fields: its, values: client, ...saves(resource), done: show });

export const urls = (context) =>
  settings(context, fields.redirects, { name: "post_logout_redirect_uris", label: words.leaving, type: "lines", help: words.leavingHelp });

export const look = (context) =>
  settings(
    context,
    fields.name,
    fields.logo,
    ...[
      ["client_uri", words.page, words.urlHelp],
      ["policy_uri", words.policy, words.linkedHelp],
      ["tos_uri", words.terms, words.linkedHelp],
    ].map(([name, label, help]) => ({ name, label, help, input: "url", nullable: true })),
  );

export async function tokens(context) {
  const { client } = context;
  return settings(
    context,
    await algorithm(context, words.algorithmHelp),
    ...[
      { name: "access_token_seconds", label: words.accessSeconds, min: 60, max: 86_400, help: words.accessSecondsHelp },
      { name: "session_seconds", label: words.sessionSeconds, min: 300, max: 31_708_800, help: words.sessionSecondsHelp },
    ].map((field) => ({ ...field, type: "number", isDuration: true })),
    ...(client.client_type === "confidential" ? [{ name: "pkce_optional", label: words.pkce, type: "switch", help: words.pkceHelp }] : []),
  );
}
