// The settings of a project by area.

import { confirm } from "../components/dialog.js";
import { form, posts } from "../components/form.js";
import { button, empty, fold, head, heading, link, note, tabs } from "../components/parts.js";
import { h } from "../core/dom.js";
import { title } from "../core/format.js";
import { document, operations } from "../core/openapi.js";
import { url } from "../core/router.js";
import { AREAS, bodyOf, described, valuesOf } from "../core/settings.js";
import { at } from "../core/values.js";
import { texts as t } from "../texts.js";
import { settings as words } from "../texts-settings.js";

const PATH = "/internal/projects/current";
const THEME = "config.email_theme";

/** A field with label, options in words, and help (default: the API's description). */
function labelled(field, api, operation, themes) {
  const named = words.options[field.name] ?? {};
  const options = field.name === THEME ? themes : field.options?.map((value) => [value, named[value] ?? title(value)]);
  const label = words.labels[field.name] ?? title(field.name.split(".").pop());
  return { ...field, options, label, help: words.help[field.name] ?? described(api, operation, field.name) };
}

/** The themes to choose from, including a deleted one that is still set. */
async function themesOf(api, chosen) {
  const { themes } = await api.get("/internal/email-themes");
  const known = themes.map(({ id, display_name: name }) => [id, name]);
  const gone = chosen && !known.some(([id]) => id === chosen) ? [[chosen, chosen]] : [];
  return [["", words.builtInTheme], ...known, ...gone];
}

export async function view(context) {
  const { api, to, parameters, refresh, forgetProjects } = context;
  const area = parameters.area ?? "general";
  const names = [...Object.keys(AREAS), "danger"];
  const tab = (name) => [to(name === "general" ? "/settings" : `/settings/${name}`), words.areas[name] ?? title(name), name];
  const page = (content) =>
    h("div", {}, head(words.title, { lead: words.lead }), tabs(names.map(tab), area, words.title), content);
  if (area === "danger") return page(await danger(context));
  if (!Object.hasOwn(AREAS, area)) return page(empty({ ...t.notFound, action: link(to("/settings"), words.areas.general, { class: "button" }) }));
  const resource = api.resource(PATH);
  const [project, openapi] = await Promise.all([resource.read(), document()]);
  const operation = operations(openapi).find(({ id }) => id === "projects-internal-current-update");
  const themes = area === "emails" ? await themesOf(api, at(project, THEME)) : [];
  const fields = AREAS[area].map((field) => labelled(field, openapi, operation, themes));
  const read = async () => valuesOf(fields, await resource.read());
  return page([
    h(
      "div",
      { class: "narrow" },
      h("p", { class: "muted" }, words.about[area] ?? ""),
      form({
        fields,
        values: valuesOf(fields, project),
        verb: t.save,
        reread: read,
        send: (_, now, changes) => resource.change(bodyOf(fields, now, changes)),
        request: (_, now, changes) => api.request("PATCH", PATH, { body: bodyOf(fields, now, changes) }),
        done: () => (area === "general" ? (forgetProjects(), refresh()) : undefined),
      }),
      area === "emails" && testMail(api),
    ),
    area === "sessions" && (await (await import("./signing-keys.js")).section(context)),
  ]);
}

/** A form that sends a test email through the mail server entered in it. */
function testMail(api) {
  const answer = h("div");
  const body = ({ recipient_email, ...server }) => ({
    recipient_email,
    email_config: { ...server, username: server.username ?? "", password: server.password ?? "" },
  });
  return fold(
    words.test,
    h("p", { class: "muted" }, words.testText),
    form({
      fields: ["recipient_email", "host", "port", "username", "password", "sender_email", "sender_name"].map((name) => ({
        name,
        label: words.testFields[name],
        type: name === "port" ? "number" : "text",
        input: name === "password" ? "password" : name.endsWith("email") ? "email" : "text",
        required: name !== "username" && name !== "password",
      })),
      verb: words.test,
      ...posts(api, "/internal/send-test-email", body),
      done: ({ success, error_message: text }) =>
        answer.replaceChildren(success ? note("done", words.testSent) : note("failed", text ?? words.testFailed)),
    }),
    answer,
  );
}

async function danger(context) {
  const { api, projects, projectId, router, session, forgetProjects } = context;
  const name = projects.get(projectId)?.display_name ?? projectId;
  const remove = async () => {
    const users = await api.get("/internal/metrics", { include_anonymous: true }).then(
      (metrics) => metrics.total_users,
      () => null,
    );
    if (!(await confirm({ title: words.delete, text: words.deleteText(users), name, act: () => api.delete(PATH) }))) return;
    forgetProjects();
    await router.go(url("/projects"));
  };
  if (session.local?.project_id === projectId)
    return h(
      "section",
      { class: "danger-area" },
      heading(words.delete),
      h("p", {}, words.deleteLocal),
      link("/docs/gateway", words.gatewayDocs),
    );
  return h(
    "div",
    {},
    await transfer(context),
    h(
      "section",
      { class: "danger-area" },
      heading(words.delete),
      h("p", {}, words.deleteText(null)),
      button(words.delete, remove, { class: "danger" }),
    ),
  );
}

/** A form that transfers the project to another of the user's teams; `null` if there is none. */
async function transfer({ session, projects, projectId, refresh, forgetProjects }) {
  const { items } = await session.internal.get("/teams", { user_id: "me" });
  const owner = projects.get(projectId)?.owner_team_id;
  const others = items.filter((team) => team.id !== owner);
  if (!others.length) return null;
  const body = ({ new_team_id: team }) => ({ project_id: projectId, new_team_id: team });
  return h(
    "section",
    {},
    heading(words.transfer),
    h("p", { class: "muted" }, words.transferText),
    form({
      fields: [
        {
          name: "new_team_id",
          label: words.newOwner,
          type: "choice",
          initial: others[0].id,
          options: others.map((team) => [team.id, team.display_name]),
        },
      ],
      verb: words.transfer,
      ...posts(session.internal, "/internal/projects/transfer", body),
      done: () => {
        forgetProjects();
        return refresh();
      },
    }),
  );
}
