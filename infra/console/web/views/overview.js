// The figures of a project: users, teams, sign-ups and emails.

import { bars, shares } from "../components/chart.js";
import { table } from "../components/list.js";
import { curlButton, empty, head, heading, link, note, shown, time } from "../components/parts.js";
import { h } from "../core/dom.js";
import { count, percent } from "../core/format.js";
import { metrics as m } from "../texts-overview.js";
import { providers } from "../texts-providers.js";
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
    head(shown(name, { max: 80 }), { lead: m.lead, actions: [curlButton(() => api.request("GET", PATH))] }),
    !metrics.counted_at_millis && metrics.recently_registered.length > 0 && note("waiting", m.notCounted, " ", h("code", {}, "gateway metrics recount")),
    h(
      "div",
      { class: "panels" },
      figure(m.users, count(metrics.total_users), m.usersHelp(auth.verified_users, auth.anonymous_users)),
      figure(m.mau, count(auth.mau), m.mauHelp),
      figure(m.teams, count(auth.total_teams)),
      figure(
        m.delivered,
        emails.emails_sent ? percent(emails.deliverability_rate) : t.none,
        m.deliveredHelp(emails.emails_sent),
      ),
    ),
    h(
      "div",
      { class: "panels wide-panels" },
      bars(m.signUps, metrics.daily_users),
      bars(m.activeUsers, metrics.daily_active_users, { total: metrics.daily_active_users.at(-1)?.activity ?? 0 }),
      bars(m.emails, emails.daily_emails),
      shares(
        m.methods,
        metrics.login_methods.map(({ method, count: number }) => ({ name: t.methods[method] ?? providers.names[method] ?? method, number })),
        m.noMethods,
      ),
    ),
    heading(m.newest, { actions: metrics.recently_registered.length > 0 && link(to("/users"), m.allUsers) }),
    people(metrics.recently_registered),
  );
}
