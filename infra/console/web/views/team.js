// A team: its profile, its members and their permissions, its invitations, and its deletion.

import { confirm, deletion } from "../components/dialog.js";
import { form, posts, saves } from "../components/form.js";
import { list, table } from "../components/list.js";
import { button, curlButton, empty, facts, fold, granted, head, heading, id, shown, tabs, time } from "../components/parts.js";
import { allRows, path, userId } from "../core/api.js";
import { h } from "../core/dom.js";
import { texts as t } from "../texts.js";
import { teamPart } from "./owned-keys.js";

const PARTS = { members, invitations, profile, keys: teamPart, danger };

export async function view(context) {
  const { api, to, parameters, query } = context;
  const place = path`/teams/${parameters.team}`;
  const team = await api.get(place);
  const current = Object.hasOwn(PARTS, query.get("part")) ? query.get("part") : "members";
  const tab = (name) => [to(`/teams/${team.id}`, { part: name === "members" ? "" : name }), t.team.parts[name], name];
  return h(
    "div",
    {},
    head(shown(team.display_name, { max: 120 }), {
      actions: current === "profile" ? [curlButton(() => api.request("GET", place))] : [],
    }),
    tabs(Object.keys(PARTS).map(tab), current, t.team.tabs),
    await PARTS[current]({ ...context, team, place }),
  );
}

async function members({ api, team, to, refresh }) {
  const remove = async (user) => {
    const act = () => api.delete(path`/team-memberships/${team.id}/${user.id}`);
    const text = t.team.removeText(user.primary_email ?? user.display_name ?? user.id);
    if (await confirm({ title: t.team.remove, text, act })) await refresh();
  };
  const [grants, { items: defined }] = await Promise.all([
    allRows(api, "/team-permissions", { team_id: team.id, recursive: false }),
    api.get("/team-permission-definitions"),
  ]);
  const revoke = async (user, permission) => {
    const act = () => api.delete(path`/team-permissions/${team.id}/${user.id}/${permission}`);
    if (await confirm({ title: t.permissions.revoke, text: t.permissions.revokeText(permission), act })) await refresh();
  };
  const permissions = (user) =>
    h(
      "span",
      { class: "chips" },
      grants
        .filter((grant) => grant.user_id === user.id)
        .map(({ id: permission }) => granted("span", permission, () => revoke(user, permission))),
    );
  const add = (body) => [path`/team-memberships/${team.id}/${body.user_id ?? ""}`, {}];
  const grant = (body) => [path`/team-permissions/${team.id}/${body.user_id ?? ""}/${body.permission ?? ""}`, {}];
  return h(
    "div",
    {},
    list({
      api,
      path: "/users",
      query: { team_id: team.id, include_anonymous: true },
      label: t.team.parts.members,
      href: (user) => to(`/users/${user.id}`),
      columns: [
        { label: t.users.user, class: "wide", cell: (user) => shown(user.primary_email ?? user.display_name ?? user.id, { max: 80 }) },
        { label: t.permissions.title, class: "wide actions", cell: permissions },
        { label: "", class: "end actions", cell: (user) => button(t.team.remove, () => remove(user), { class: "small-button" }) },
      ],
      none: t.team.noMember,
    }),
    fold(
      t.team.add,
      form({
        fields: [{ name: "user_id", label: t.team.userId, required: true, help: t.team.userIdHelp }],
        verb: t.team.add,
        send: async (body) => api.post(...add({ user_id: await userId(api, body.user_id) })),
        request: (body) => api.request("POST", add(body)[0], { body: {} }),
        done: refresh,
      }),
    ),
    fold(
      t.permissions.grant,
      form({
        fields: [
          { name: "user_id", label: t.team.userId, required: true, help: t.team.userIdHelp },
          {
            name: "permission",
            label: t.permissions.permission,
            type: "choice",
            initial: defined[0]?.id,
            options: defined.map(({ id: permission }) => [permission, permission]),
          },
        ],
        verb: t.permissions.grant,
        send: async (body) => api.post(...grant({ ...body, user_id: await userId(api, body.user_id) })),
        request: (body) => api.request("POST", grant(body)[0], { body: {} }),
        done: refresh,
      }),
    ),
  );
}

async function invitations({ api, team, refresh }) {
  const { items } = await api.get("/team-invitations", { team_id: team.id });
  const revoke = async (invitation) => {
    const act = () => api.delete(path`/team-invitations/${invitation.id}`, { team_id: team.id });
    if (await confirm({ title: t.team.revoke, text: t.team.revokeText(invitation.recipient_email), act })) await refresh();
  };
  const columns = [
    { label: t.users.email, class: "wide", cell: (invitation) => shown(invitation.recipient_email) },
    { label: t.expires, class: "fit", cell: (invitation) => time(invitation.expires_at_millis) },
    { label: "", class: "end actions", cell: (invitation) => button(t.team.revoke, () => revoke(invitation), { class: "small-button" }) },
  ];
  const body = (given) => ({ ...given, team_id: team.id });
  return h(
    "div",
    {},
    items.length ? table({ columns, rows: items, label: t.team.parts.invitations }) : empty(t.team.noInvitation),
    heading(t.team.invite),
    form({
      fields: [
        { name: "email", label: t.users.email, input: "email", required: true },
        {
          name: "callback_url",
          label: t.team.callback,
          input: "url",
          required: true,
          help: t.team.callbackHelp,
          placeholder: "http://localhost:3000/handler/team-invitation",
        },
      ],
      verb: t.team.invite,
      ...posts(api, "/team-invitations/send-code", body),
      done: refresh,
    }),
  );
}

function profile({ api, team, place, refresh }) {
  const resource = api.resource(place);
  return h(
    "div",
    {},
    facts([t.id, id(team.id)], [t.created, time(team.created_at_millis, { isLong: true })]),
    form({
      fields: [
        { name: "display_name", label: t.teams.name, required: true },
        { name: "profile_image_url", label: t.user.picture, input: "url", nullable: true, help: t.user.pictureHelp },
        { name: "client_metadata", label: t.user.clientMetadata, type: "json", help: t.team.clientMetadataHelp },
        { name: "client_read_only_metadata", label: t.user.readOnlyMetadata, type: "json", help: t.team.readOnlyMetadataHelp },
        { name: "server_metadata", label: t.user.serverMetadata, type: "json", help: t.user.serverMetadataHelp },
      ],
      values: team,
      ...saves(resource),
      done: refresh,
    }),
  );
}

function danger({ api, team, place, router, to }) {
  return deletion({
    title: t.team.delete,
    text: t.team.deleteText,
    name: team.display_name,
    act: () => api.delete(place),
    done: () => router.go(to("/teams")),
  });
}
