// Lists and creates a project's webhook endpoints.

import { showOnce } from "../components/dialog.js";
import { form, posts } from "../components/form.js";
import { list } from "../components/list.js";
import { head, shown, state, time } from "../components/parts.js";
import { h } from "../core/dom.js";
import { lines } from "../core/values.js";
import { texts as t } from "../texts.js";
import { developers as d } from "../texts-developers.js";

export const EVENTS = [
  "user.created",
  "user.updated",
  "user.deleted",
  "team.created",
  "team.updated",
  "team.deleted",
  "team_membership.created",
  "team_membership.deleted",
  "team_permission.created",
  "team_permission.deleted",
  "project_permission.created",
  "project_permission.deleted",
  "session.created",
  "session.deleted",
  "email.created",
  "email.updated",
  "api_key.created",
  "api_key.updated",
  "user_api_key.created",
  "user_api_key.updated",
  "user_api_key.deleted",
  "team_api_key.created",
  "team_api_key.updated",
  "team_api_key.deleted",
  "audit_entry.created",
];
const TONES = { succeeded: "done", failed: "failed", pending: "waiting" };

/** The state of a delivery. */
export function stateOfDelivery(status) {
  return state(TONES[status] ?? "aside", d.webhooks.statuses[status] ?? status);
}

export function stateOf(endpoint) {
  if (endpoint.enabled) return state("done", d.webhooks.enabled);
  return state(
    endpoint.disabled_reason === "manual" ? "aside" : "failed",
    d.webhooks.disabled[endpoint.disabled_reason] ?? d.webhooks.disabled.manual,
  );
}

/**
 * Converts header lines such as `X-Token: abc` to an object, and back. A line without a colon
 * becomes a header without a value, so that the API reports it.
 */
export const headersOf = (text) =>
  Object.fromEntries(
    text.map((line) => {
      const [name, ...value] = line.split(":");
      return [name.trim(), value.join(":").trim()];
    }),
  );
export const headerLines = (headers) => Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}`);

/** The fields of an endpoint. */
export const fields = () => [
  { name: "url", label: d.webhooks.url, input: "url", required: true, help: d.webhooks.urlHelp },
  { name: "description", label: t.description },
  {
    name: "event_types",
    label: d.webhooks.events,
    type: "choices",
    options: EVENTS.map((name) => [name, name]),
    help: d.webhooks.eventsHelp,
  },
  { name: "custom_headers", label: d.webhooks.headers, type: "lines", help: d.webhooks.headersHelp, placeholder: "X-Token: …" },
];

export const sent = ({ custom_headers: headers, ...rest }) => ({
  ...rest,
  ...(headers && { custom_headers: headersOf(Array.isArray(headers) ? headers : lines(headers)) }),
});

export async function view(context) {
  const { api, router, to, query } = context;
  if (query.has("new")) return creation(context);
  const create = (kind) => h("a", { class: kind, href: to("/webhooks", { new: "1" }) }, d.webhooks.create);
  return h(
    "div",
    {},
    head(d.webhooks.title, { lead: d.webhooks.lead, actions: [create("button main")] }),
    list({
      api,
      router,
      path: "/internal/webhook-endpoints",
      label: d.webhooks.title,
      href: (endpoint) => to(`/webhooks/${endpoint.id}`),
      columns: [
        { label: d.webhooks.url, class: "wide", cell: (endpoint) => shown(endpoint.url, { max: 100 }) },
        { label: t.description, class: "wide", cell: (endpoint) => shown(endpoint.description, { max: 80 }) },
        { label: t.state, class: "fit", cell: stateOf },
        {
          label: d.webhooks.last,
          class: "fit end",
          cell: ({ last_delivery: last }) => (last ? [stateOfDelivery(last.status), h("small", {}, time(last.at_millis))] : time(null)),
        },
      ],
      none: { ...d.webhooks.none, action: create("button") },
    }),
  );
}

function creation({ api, router, to }) {
  return h(
    "div",
    { class: "narrow" },
    head(d.webhooks.create),
    form({
      fields: fields(),
      verb: d.webhooks.create,
      cancel: () => router.go(to("/webhooks")),
      ...posts(api, "/internal/webhook-endpoints", sent),
      done: async (endpoint) => {
        await showOnce(d.webhooks.created, d.webhooks.secretText, [[d.webhooks.secret, endpoint.secret]]);
        await router.go(to(`/webhooks/${endpoint.id}`));
      },
    }),
  );
}
