// Lists the projects that the caller may open, and creates projects.

import { form, posts } from "../components/form.js";
import { table } from "../components/list.js";
import { empty, head, heading, link, shown, tag, time } from "../components/parts.js";
import { h } from "../core/dom.js";
import { url } from "../core/router.js";
import { texts as t } from "../texts.js";

export async function view({ session, projects, router, forgetProjects }) {
  const columns = [
    { label: t.projects.name, class: "wide", cell: (project) => shown(project.display_name, { max: 80 }) },
    { label: t.projects.description, class: "wide", cell: (project) => shown(project.description, { max: 100 }) },
    { label: t.created, class: "fit", cell: (project) => time(project.created_at_millis) },
    { label: "", class: "fit end", cell: (project) => project.id === session.local?.project_id && tag(t.projects.local) },
  ];
  const rows = [...projects.values()];
  return h(
    "div",
    {},
    head(t.projects.title, { lead: t.projects.lead }),
    rows.length ? table({ columns, rows, label: t.projects.title, href: (project) => url(`/${project.id}`) }) : empty(t.projects.none),
    heading(t.projects.create),
    session.email
      ? await creation({ session, router, forgetProjects })
      : h("p", {}, t.projects.signInFirst, " ", link(url("/sign-in"), t.nav.signIn)),
  );
}

async function creation({ session, router, forgetProjects }) {
  const { items: teams } = await session.internal.get("/teams", { user_id: "me" });
  if (!teams.length) return empty(t.projects.noTeam);
  return form({
    fields: [
      { name: "display_name", label: t.projects.name, help: t.projects.nameHelp, required: true },
      { name: "description", label: t.projects.description },
      {
        name: "owner_team_id",
        label: t.projects.owner,
        help: t.projects.ownerHelp,
        type: "choice",
        initial: teams[0].id,
        options: teams.map((team) => [team.id, team.display_name]),
      },
    ],
    verb: t.projects.create,
    ...posts(session.internal, "/internal/projects"),
    done: async (project) => {
      forgetProjects();
      await router.go(url(`/${project.id}/keys`));
    },
  });
}
