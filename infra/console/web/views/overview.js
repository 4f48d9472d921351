// The numbers of a project: users, teams, sign-ups and emails.

import { bars, shares } from "../components/chart.js";
import { table } from "../components/list.js";
import { curlButton, empty, head, heading, link, note, shown, time } from "../components/parts.js";
import { h } from "../core/dom.js";
import { count, percent } from "../core/format.js";
import { texts as t } from "../texts.js";

const PATH = "/internal/metrics";

function figure(name, value, help) {
  return h(
    "div",
    { class: "panel" },
    h("h2", {}, name),
    h("p", { class: "figure" }, value),
    help && h("p", { class: "muted small" }, help),
  );
}

export async function view({ api, to, projects, projectId }) {
  const metrics = await api.get(PATH);
  const { auth_overview: auth, email_overview: emails } = metrics;
  const name = projects.get(projectId)?.display_name ?? projectId;
  const people = (rows) =>
    rows.length
      ? table({
          rows,
          label: t.users.title,
          href: (user) => to(`/users/${user.id}`),
          columns: [
            { label: t.users.user, class: "wide", cell: (user) => shown(user.primary_email ?? user.display_name ?? user.id, { max: 60 }) },
            { label: t.users.signedUp, class: "fit end", cell: (user) => time(user.signed_up_at_millis) },
          ],
        })
      : empty({ ...t.users.none, action: link(to("/quick-start"), t.nav.pages.quickstart, { class: "button" }) });
  return h(
    "div",
    {},
    head(shown(name, { max: 80 }), { lead: t.metrics.lead, actions: [curlButton(() => api.request("GET", PATH))] }),
    !metrics.counted_at_millis && metrics.recently_registered.length > 0 && note("waiting", t.metrics.notCounted, " ", h("code", {}, "gateway metrics recount")),
    h(
      "div",
      { class: "panels" },
      figure(t.metrics.users, count(metrics.total_users), t.metrics.usersHelp(auth.verified_users, auth.anonymous_users)),
      figure(t.metrics.mau, count(auth.mau), t.metrics.mauHelp),
      figure(t.metrics.teams, count(auth.total_teams)),
      figure(
        t.metrics.delivered,
        emails.emails_sent ? percent(emails.deliverability_rate) : t.none,
        t.metrics.deliveredHelp(emails.emails_sent),
      ),
    ),
    h(
      "div",
      { class: "panels wide-panels" },
      bars(t.metrics.signUps, metrics.daily_users),
      bars(t.metrics.activeUsers, metrics.daily_active_users, { total: metrics.daily_active_users.at(-1)?.activity ?? 0 }),
      bars(t.metrics.emails, emails.daily_emails),
      shares(
        t.metrics.methods,
        metrics.login_methods.map(({ method, count: number }) => ({ name: t.methods[method] ?? t.providers.names[method] ?? method, number })),
        t.metrics.noMethods,
      ),
    ),
    heading(t.metrics.newest, { actions: metrics.recently_registered.length > 0 && link(to("/users"), t.metrics.allUsers) }),
    people(metrics.recently_registered),
  );
}
