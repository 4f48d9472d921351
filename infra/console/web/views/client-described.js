// A client that describes itself: where its description comes from, and what it says.

import { form, saves } from "../components/form.js";
import { copyable, curlButton, facts, shown, time } from "../components/parts.js";
import { h } from "../core/dom.js";
import { clients as words } from "../texts-oauth-clients.js";
import { fields, missing, ownerOf } from "./client-common.js";

const whole = (uri) => h("code", {}, shown(uri));
const lines = (uris) => (uris.length ? uris.map((uri) => h("div", {}, whole(uri))) : shown(""));

/** That a part of the description cannot be changed. */
const given = ({ client }) => h("p", { class: "muted" }, words.described[client.source].fixed);

export function part(context) {
  const { api, client, place } = context;
  const { about, since } = words.described[client.source];
  const document = client.metadata_url;
  return h(
    "div",
    {},
    missing(context),
    h("p", {}, about),
    facts(
      [document ? words.documentAndId : words.id, copyable(document ?? client.id)],
      [words.kind, `${words.owners[ownerOf(client)]}, ${words.types[client.client_type].toLowerCase()}`],
      [since, time(client.created_at_millis, { isLong: true })],
    ),
    h("div", { class: "buttons" }, curlButton(() => api.request("GET", place))),
  );
}

export const urls = (context) =>
  h(
    "div",
    {},
    given(context),
    facts([words.redirects, lines(context.client.redirect_uris)], [words.leaving, lines(context.client.post_logout_redirect_uris)]),
  );

export function look(context) {
  const { client, resource, show } = context;
  const pages = [
    [words.page, client.client_uri],
    [words.policy, client.policy_uri],
    [words.terms, client.tos_uri],
  ];
  return h(
    "div",
    {},
    given(context),
    facts([words.name, shown(client.name)], ...pages.map(([label, url]) => [label, url ? whole(url) : shown("")])),
    form({ fields: [fields.logo], values: client, ...saves(resource), done: show }),
  );
}
