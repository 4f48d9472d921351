// Lists and creates a project's users.

import { form, posts } from "../components/form.js";
import { list } from "../components/list.js";
import { head, shown, state, time } from "../components/parts.js";
import { h } from "../core/dom.js";
import { texts as t } from "../texts.js";

/** The state of a user: a tone and words. */
export function stateOf(user) {
  if (user.is_anonymous) return ["aside", t.users.anonymous];
  if (user.restricted_by_admin) return ["failed", t.users.restricted];
  if (user.restricted_reason?.needs) return ["waiting", t.users.needsSecondFactor];
  if (user.is_restricted) return ["waiting", t.users.unverified];
  return ["done", t.users.active];
}

export async function view(context) {
  const { api, router, to, query } = context;
  if (query.has("new")) return creation(context);
  return h(
    "div",
    {},
    head(t.users.title, { actions: [h("a", { class: "button main", href: to("/users", { new: "1" }) }, t.users.create)] }),
    list({
      api,
      router,
      path: "/users",
      label: t.users.title,
      search: "query",
      index: "starts_with",
      searchLabel: t.users.search,
      choices: [
        {
          name: "who",
          label: t.users.who,
          options: t.users.whos,
          query: (who) => ({
            include_restricted: true,
            include_anonymous: who === "anonymous" || who === "all" || null,
            only_anonymous: who === "anonymous" || null,
          }),
        },
        {
          name: "order",
          label: t.order,
          isOrder: true,
          options: t.users.orders,
          query: (order, { isIndexed }) => !isIndexed && { order_by: order.replace(/-.*/, ""), desc: order.endsWith("-desc") || null },
        },
      ],
      href: (user) => to(`/users/${user.id}`),
      columns: [
        { label: t.users.user, class: "wide", cell: (user) => shown(user.primary_email ?? user.display_name ?? user.id, { max: 80 }) },
        { label: t.users.name, class: "wide", cell: (user) => shown(user.display_name, { max: 60 }) },
        { label: t.state, class: "fit", cell: (user) => state(...stateOf(user)) },
        { label: t.users.signedUp, class: "fit roomy", cell: (user) => time(user.signed_up_at_millis) },
        { label: t.users.lastActive, class: "fit end", cell: (user) => time(user.last_active_at_millis) },
      ],
      none: { ...t.users.none, action: h("a", { class: "button", href: to("/users", { new: "1" }) }, t.users.create) },
    }),
  );
}

function creation({ api, router, to }) {
  return h(
    "div",
    { class: "narrow" },
    head(t.users.create, { lead: t.users.createLead }),
    form({
      fields: [
        { name: "primary_email", label: t.users.email, input: "email", help: t.users.emailHelp },
        { name: "primary_email_verified", label: t.users.verified, type: "switch", help: t.users.verifiedHelp },
        {
          name: "primary_email_auth_enabled",
          label: t.users.usedForSignIn,
          type: "switch",
          initial: true,
          help: t.users.usedForSignInHelp,
        },
        { name: "display_name", label: t.users.name },
        { name: "password", label: t.users.password, input: "password", autocomplete: "new-password", help: t.users.passwordHelp },
      ],
      verb: t.users.create,
      ...posts(api, "/users", withoutUnused),
      cancel: () => router.go(to("/users")),
      done: (user) => router.go(to(`/users/${user.id}`)),
    }),
  );
}

/** Drops the fields about the address if there is no address. */
function withoutUnused(body) {
  if (body.primary_email) return body;
  const { primary_email_verified: _, primary_email_auth_enabled: __, ...rest } = body;
  return rest;
}
