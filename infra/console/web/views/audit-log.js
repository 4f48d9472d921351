// The audit log: the events of the project and its accounts.

import { list } from "../components/list.js";
import { head, link, shown, tag, time } from "../components/parts.js";
import { h } from "../core/dom.js";
import { capital, shortened, title, words } from "../core/format.js";
import { document, operations } from "../core/openapi.js";
import { audit as a } from "../texts-audit.js";
import { texts as t } from "../texts.js";
import { placeOf } from "./user-sessions.js";

const EVENTS = [
  "sign-in",
  "sign-in-failed",
  "sign-up-rejected",
  "created",
  "deleted",
  "restricted",
  "unrestricted",
  "password-changed",
  "password-reset",
  "address-added",
  "address-removed",
  "authenticator-added",
  "authenticator-removed",
  "passkey-added",
  "provider-linked",
  "provider-unlinked",
  "recovery-code-used",
  "api-key-created",
  "impersonation",
  "sessions-ended",
  "grant-given",
  "grant-ended",
  "client-token-replayed",
];

/** Events that the API counts per minute. The time of their entries is the start of the minute. */
const COUNTED = ["sign-in-failed", "proof-failed", "sign-up-rejected"];

/** Whether the time of an entry is exact only to the minute. */
export function isCounted(entry) {
  return entry.events.some((event) => COUNTED.includes(event));
}

export async function view(context) {
  return h("div", {}, head(a.title, { lead: a.lead }), await entries(context, {}));
}

/** The summaries of operations by id; empty if the API's description cannot be read. */
async function summaries() {
  try {
    return new Map(operations(await document()).map(({ id, summary }) => [id, summary]));
  } catch {
    return new Map();
  }
}

/** The entries that match a query. */
export async function entries({ api, router, to }, query) {
  const summaryOf = await summaries();
  return list({
    api,
    router: query.user_id ? null : router,
    path: "/internal/audit-log",
    query,
    label: a.title,
    choices: [
      { name: "event", label: a.event, options: [["", a.everything], ...EVENTS.map((event) => [event, capital(a.events[event] ?? words(event))])] },
    ],
    columns: [
      { label: a.what, class: "wide", cell: (entry) => what(entry, summaryOf) },
      { label: a.who, class: "wide actions", cell: (entry) => actor(entry.actor, to) },
      { label: a.target, class: "wide actions", cell: (entry) => targets(entry, to) },
      { label: t.sessions.place, class: "place", cell: (entry) => shown(placeOf(entry.place), { max: 60 }) },
      { label: a.when, class: "fit end", cell: (entry) => time(entry.at, { isMinute: isCounted(entry) }) },
    ],
    none: a.none,
  });
}

/** Irregular past forms. */
const PASTS = { cancel: "cancelled", find: "found", forget: "forgot", send: "sent", set: "set", transfer: "transferred", undoe: "undid" };

/**
 * Says what was done, derived from the summary of an operation: "Updates or revokes a key" becomes
 * "Updated or revoked a key". Leaves out what the operation returned.
 */
export function past(summary) {
  const verb = (text) => {
    const stem = text.toLowerCase().replace(/s$/, "");
    return PASTS[stem] ?? (stem.endsWith("e") ? `${stem}d` : `${stem}ed`);
  };
  const [verbs = ""] = /^\w+s\b(?:(?:, | or )\w+s\b)*/.exec(summary) ?? [];
  return capital(verbs.replace(/\w+s\b/g, verb)) + summary.slice(verbs.length).replace(/ and returns .*/, "");
}

function what(entry, summaryOf) {
  const names = entry.events.map((event) => a.events[event] ?? words(event));
  const events = capital(names.join(", ")) || past(summaryOf.get(entry.operation) ?? title(entry.operation));
  const fields = entry.fields.length ? a.fields(entry.fields.join(", ")) : "";
  return [
    shown(events, { max: 120 }),
    entry.count > 1 && [" ", tag(a.times(entry.count))],
    h("small", {}, h("code", {}, shown(entry.operation)), fields && [" ", shown(fields, { max: 160 })]),
  ];
}

function actor(who, to) {
  if (who.type === "user") return userLink(who.user_id, to);
  if (who.type === "key") return [a.actors.key, " ", h("code", { title: who.key_set_id }, shortened(who.key_set_id))];
  if (who.type === "operator") return [a.actors.operator];
  return a.actors[who.type] ?? who.type;
}

function userLink(user, to) {
  return link(to(`/users/${user}`), h("code", {}, shortened(user)), { title: user });
}

function targets(entry, to) {
  const links = entry.targets.map(({ type, id }) => {
    if (type === "user") return userLink(id, to);
    const code = h("code", { title: id }, shown(shortened(id)));
    return [words(type), " ", type === "oauth-client" ? link(to(`/oauth-clients/${id}`), code) : code];
  });
  return links.length
    ? links.map((one, index) => [index > 0 && ", ", one])
    : entry.user_id
      ? userLink(entry.user_id, to)
      : shown(null);
}
