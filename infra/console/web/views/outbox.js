// The outbox: a project's emails, both sent and unsent.

import { list } from "../components/list.js";
import { head, shown, state, time } from "../components/parts.js";
import { path } from "../core/api.js";
import { fill, h } from "../core/dom.js";
import { count, title } from "../core/format.js";
import { texts as t } from "../texts.js";
import { mails as m } from "../texts-emails.js";

const TONES = {
  done: ["sent", "opened", "clicked"],
  failed: ["render-error", "server-error", "bounced", "marked-as-spam"],
  aside: ["paused", "skipped"],
};

/** The state of an email. */
export function stateOf(email) {
  const [tone = "waiting"] = Object.entries(TONES).find(([, names]) => names.includes(email.status)) ?? [];
  return state(tone, title(email.status));
}

/** Returns a function that finds a user by id, or `null`, and fetches each user once. */
export function userReader(api) {
  const users = new Map();
  return (id) => {
    if (!users.has(id))
      users.set(
        id,
        api.get(path`/users/${id}`).catch(() => null),
      );
    return users.get(id);
  };
}

/**
 * The recipients of an email. An email to a user's primary address does not store the address, so
 * the list shows the user's current address or name, or the beginning of the id.
 */
export function recipients(to, userOf) {
  if (to.emails?.length) return shown(to.emails.join(", "), { max: 120 });
  if (!to.user_id) return h("span", { class: "muted" }, t.none);
  const place = h("span", { title: to.user_id }, h("code", {}, to.user_id.slice(0, 8)));
  userOf(to.user_id).then((user) => {
    const name = user?.primary_email ?? user?.display_name;
    if (name) fill(place, shown(name, { max: 120 }));
  });
  return place;
}

/** How many emails of a period were sent, bounced or marked as spam. */
function figure(name, { sent, bounced, marked_as_spam: spam }) {
  return h(
    "div",
    { class: "panel" },
    h("h2", {}, name),
    h("p", { class: "figure" }, count(sent)),
    h("p", { class: "muted small" }, m.outbox.figures(bounced, spam)),
  );
}

export async function view({ api, router, to }) {
  const userOf = userReader(api);
  const { stats, capacity } = await api.get("/emails/delivery-info");
  return h(
    "div",
    {},
    head(m.outbox.title, { lead: m.outbox.lead }),
    h(
      "div",
      { class: "panels" },
      ["hour", "day", "week", "month"].map((name) => figure(m.outbox.sentIn[name], stats[name])),
    ),
    capacity.is_limited && h("p", { class: "muted small" }, m.outbox.capacity(capacity)),
    list({
      api,
      router,
      path: "/emails/outbox",
      isLive: true,
      label: m.outbox.title,
      choices: [{ name: "state", label: t.state, options: m.outbox.states, query: (simple) => ({ simple_status: simple }) }],
      href: (email) => to(`/outbox/${email.id}`),
      columns: [
        { label: m.outbox.subject, class: "wide", cell: (email) => shown(email.subject ?? email.subject_source, { max: 100 }) },
        { label: m.outbox.to, class: "wide", cell: (email) => recipients(email.to, userOf) },
        { label: t.state, class: "fit", cell: stateOf },
        { label: t.created, class: "fit end", cell: (email) => time(email.created_at_millis) },
      ],
      none: m.outbox.none,
    }),
  );
}
