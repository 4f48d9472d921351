// The teams of a user, and the user's permissions in the project.

import { confirm } from "../components/dialog.js";
import { form } from "../components/form.js";
import { list } from "../components/list.js";
import { granted, heading, shown, time } from "../components/parts.js";
import { path } from "../core/api.js";
import { h } from "../core/dom.js";
import { texts as t } from "../texts.js";

export async function part({ api, user, to, refresh }) {
  const [held, defined] = await Promise.all([
    api.get("/project-permissions", { user_id: user.id, recursive: false }),
    api.get("/project-permission-definitions"),
  ]);
  const has = new Set(held.items.map((permission) => permission.id));
  const open = defined.items.filter((permission) => !has.has(permission.id));
  const revoke = async (permission) => {
    const act = () => api.delete(path`/project-permissions/${user.id}/${permission}`);
    if (await confirm({ title: t.permissions.revoke, text: t.permissions.revokeText(permission), act })) await refresh();
  };
  return h(
    "div",
    {},
    heading(t.teams.title),
    list({
      api,
      path: "/teams",
      query: { user_id: user.id },
      label: t.teams.title,
      href: (team) => to(`/teams/${team.id}`),
      columns: [
        { label: t.teams.name, class: "wide", cell: (team) => shown(team.display_name, { max: 80 }) },
        { label: t.created, class: "fit end", cell: (team) => time(team.created_at_millis) },
      ],
      none: t.user.noTeam,
    }),
    heading(t.permissions.ofUser),
    h("p", { class: "muted" }, t.permissions.grantedHelp),
    has.size
      ? h(
          "ul",
          { class: "chips" },
          [...has].map((permission) => granted("li", permission, () => revoke(permission))),
        )
      : h("p", {}, t.permissions.noneGranted),
    open.length > 0 &&
      form({
        fields: [
          {
            name: "permission",
            label: t.permissions.grant,
            type: "choice",
            initial: open[0].id,
            options: open.map((permission) => [permission.id, permission.id]),
          },
        ],
        verb: t.permissions.grant,
        send: (_, { permission }) => api.post(path`/project-permissions/${user.id}/${permission}`),
        request: ({ permission }) => api.request("POST", path`/project-permissions/${user.id}/${permission}`, { body: {} }),
        done: refresh,
      }),
  );
}
