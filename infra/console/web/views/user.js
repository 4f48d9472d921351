// A user: profile, sign-in, teams and permissions, sessions, activity, restriction and deletion.

import { form, saves } from "../components/form.js";
import { curlButton, facts, head, id, shown, state, tabs, time } from "../components/parts.js";
import { path } from "../core/api.js";
import { h } from "../core/dom.js";
import { texts as t } from "../texts.js";
import { stateOf } from "./users.js";

const PARTS = {
  profile: { load: async () => ({ part: profile }) },
  "sign-in": { load: () => import("./user-sign-in.js") },
  teams: { load: () => import("./user-teams.js") },
  sessions: { load: () => import("./user-sessions.js") },
  apps: { load: () => import("./user-grants.js") },
  keys: { load: () => import("./owned-keys.js") },
  activity: { load: () => import("./user-activity.js") },
  danger: { load: () => import("./user-danger.js") },
};

export async function view(context) {
  const { api, to, parameters, query } = context;
  const place = path`/users/${parameters.user}`;
  const user = await api.get(place);
  const current = Object.hasOwn(PARTS, query.get("part")) ? query.get("part") : "profile";
  const { part } = await PARTS[current].load();
  const tab = (name) => [to(`/users/${user.id}`, { part: name === "profile" ? "" : name }), t.user.parts[name], name];
  return h(
    "div",
    {},
    head(shown(user.display_name ?? user.primary_email ?? t.users.anonymous, { max: 120 }), {
      lead: state(...stateOf(user)),
      actions: current === "profile" ? [curlButton(() => api.request("GET", place))] : [],
    }),
    tabs(Object.keys(PARTS).map(tab), current, t.user.tabs),
    await part({ ...context, user, place }),
  );
}

function profile({ api, user, place }) {
  const resource = api.resource(place);
  const fields = [
    { name: "display_name", label: t.users.name, nullable: true },
    { name: "profile_image_url", label: t.user.picture, input: "url", nullable: true, help: t.user.pictureHelp },
    { name: "client_metadata", label: t.user.clientMetadata, type: "json", help: t.user.clientMetadataHelp },
    { name: "client_read_only_metadata", label: t.user.readOnlyMetadata, type: "json", help: t.user.readOnlyMetadataHelp },
    { name: "server_metadata", label: t.user.serverMetadata, type: "json", help: t.user.serverMetadataHelp },
  ];
  return h(
    "div",
    {},
    facts(
      [t.id, id(user.id)],
      [
        t.users.email,
        shown(user.primary_email),
        user.primary_email
          ? h("small", { class: "muted" }, user.primary_email_verified ? t.users.isVerified : t.users.isNotVerified)
          : null,
      ],
      [t.users.signedUp, time(user.signed_up_at_millis, { isLong: true })],
      [t.users.lastActive, time(user.last_active_at_millis, { isLong: true })],
      [t.user.country, user.country_code ? shown(user.country_code) : undefined],
      [t.user.risk, t.user.risks(user.risk_scores.sign_up)],
    ),
    form({
      fields,
      values: user,
      ...saves(resource),
    }),
  );
}
