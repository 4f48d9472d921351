// A user's active sessions, and the button to act as the user.

import { confirm, showOnce } from "../components/dialog.js";
import { form, posts } from "../components/form.js";
import { list } from "../components/list.js";
import { button, heading, shown, tag, time } from "../components/parts.js";
import { path } from "../core/api.js";
import { h } from "../core/dom.js";
import { texts as t } from "../texts.js";

/** The address, city and country of a place; empty if unknown. */
export function placeOf(place) {
  if (!place) return "";
  return [place.ip, [place.cityName, place.countryCode].filter(Boolean).join(", ")].filter(Boolean).join(" · ");
}

/**
 * The live sessions of a user, whose id may be `me`. `mark` returns the tag of a session, if any;
 * `canEnd` says which sessions get a button to end them; `query` is the query of the request that
 * ends a session.
 */
export function liveSessions({ api, refresh, user, query, mark, canEnd = () => true }) {
  const end = async (session) => {
    const act = () => api.delete(path`/auth/sessions/${session.id}`, query);
    if (await confirm({ title: t.sessions.end, text: t.sessions.endText, act })) await refresh();
  };
  const place = (session) => {
    const name = mark(session);
    const from = placeOf(session.last_used_at_end_user_ip_info);
    const app = session.client_name;
    return [
      from ? shown(from, { max: 80 }) : h("span", { class: "muted" }, t.sessions.nowhere),
      name && [" ", tag(name)],
      app && h("small", {}, t.sessions.signedInTo, " ", shown(app, { max: 60 })),
    ];
  };
  return list({
    api,
    path: "/auth/sessions",
    query: { user_id: user },
    label: t.sessions.title,
    columns: [
      { label: t.sessions.place, class: "wide", cell: place },
      { label: t.sessions.started, class: "fit", cell: (session) => time(session.created_at) },
      { label: t.lastUsed, class: "fit", cell: (session) => time(session.last_used_at) },
      {
        label: "",
        class: "end actions",
        cell: (session) => canEnd(session) && button(t.sessions.end, () => end(session), { class: "small-button" }),
      },
    ],
    none: t.sessions.none,
  });
}

export function part({ api, user, refresh }) {
  const name = user.primary_email ?? user.display_name ?? user.id;
  const endAll = async () => {
    const act = () => api.delete("/auth/sessions", { user_id: user.id, include_current: true });
    if (await confirm({ title: t.sessions.endAll, text: t.sessions.endAllText, name, act })) await refresh();
  };
  const started = ({ minutes }) => ({ user_id: user.id, is_impersonation: true, expires_in_millis: minutes * 60_000 });
  return h(
    "div",
    {},
    heading(t.sessions.title, { actions: [button(t.sessions.endAll, endAll, { class: "danger" })] }),
    liveSessions({
      api,
      refresh,
      user: user.id,
      query: { user_id: user.id },
      mark: (session) => session.is_impersonation && t.sessions.impersonation,
    }),
    heading(t.sessions.impersonate),
    h("p", { class: "muted" }, t.sessions.impersonateText),
    form({
      fields: [
        {
          name: "minutes",
          label: t.sessions.minutes,
          type: "number",
          initial: 30,
          min: 1,
          max: 1440,
          required: true,
          help: t.sessions.minutesHelp,
        },
      ],
      verb: t.sessions.impersonate,
      ...posts(api, "/auth/sessions", started),
      done: async (tokens) => {
        await showOnce(t.sessions.impersonate, t.sessions.tokensText, [
          [t.sessions.refreshToken, tokens.refresh_token],
          [t.sessions.accessToken, tokens.access_token],
        ]);
        await refresh();
      },
    }),
  );
}
