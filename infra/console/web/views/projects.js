// Lists the projects that the caller may open, and creates projects.

import { form, posts } from "../components/form.js";
import { table } from "../components/list.js";
import { empty, head, heading, link, shown, tag, time } from "../components/parts.js";
import { h } from "../core/dom.js";
import { url } from "../core/router.js";
import { projects as words } from "../texts-projects.js";
import { texts as t } from "../texts.js";

export async function view({ session, projects, router, forgetProjects }) {
  const columns = [
    { label: words.name, class: "wide", cell: (project) => shown(project.display_name, { max: 80 }) },
    { label: words.description, class: "wide", cell: (project) => shown(project.description, { max: 100 }) },
    { label: t.created, class: "fit", cell: (project) => time(project.created_at_millis) },
    { label: "", class: "fit end", cell: (project) => project.id === session.local?.project_id && tag(words.local) },
  ];
  const rows = [...projects.values()];
  return h(
    "div",
    {},
    head(words.title, { lead: words.lead }),
    rows.length ? table({ columns, rows, label: words.title, href: (project) => url(`/${project.id}`) }) : empty(words.none),
    heading(words.create),
    session.email
      ? await creation({ session, router, forgetProjects })
      : h("p", {}, words.signInFirst, " ", link(url("/sign-in"), t.nav.signIn)),
  );
}

async function creation({ session, router, forgetProjects }) {
  const { items: teams } = await session.internal.get("/teams", { user_id: "me" });
  if (!teams.length) return empty(words.noTeam);
  return form({
    fields: [
      { name: "display_name", label: words.name, help: words.nameHelp, required: true },
      { name: "description", label: words.description },
      {
        name: "owner_team_id",
        label: words.owner,
        help: words.ownerHelp,
        type: "choice",
        initial: teams[0].id,
        options: teams.map((team) => [team.id, team.display_name]),
      },
    ],
    verb: words.create,
    ...posts(session.internal, "/internal/projects"),
    done: async (project) => {
      forgetProjects();
      await router.go(url(`/${project.id}/keys`));
    },
  });
}
