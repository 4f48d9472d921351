// The source of a template, a theme or a draft, with a preview that the API renders.

import { deletion } from "../components/dialog.js";
import { form } from "../components/form.js";
import { curlButton, failure, fold, head, heading, link, note, shown } from "../components/parts.js";
import { preview } from "../components/preview.js";
import { path, userId } from "../core/api.js";
import { fill, h } from "../core/dom.js";
import { parsed, sampleVariables } from "../core/values.js";
import { texts as t } from "../texts.js";
import { mails as m } from "../texts-emails.js";
import { kindOf, KINDS } from "./templates.js";

const QUIET_MILLIS = 400;
const CATEGORIES = ["Transactional", "Marketing"];
const SAMPLE = '<h1>Hello {{ user.display_name | default("there") }}</h1>\n<p>…</p>';
const SAMPLE_THEME = '<!doctype html>\n<html>\n<body style="font-family: sans-serif">\n{{ content }}\n</body>\n</html>';

export async function view(context) {
  const { api, router, to, parameters } = context;
  const kind = kindOf(location.pathname);
  const isNew = parameters.item === "new";
  const isTheme = kind === "themes";
  const words = m.emails[kind];
  const whole = KINDS[kind].path;
  const place = `${whole}${path`/${parameters.item}`}`;
  const [item, themes] = await Promise.all([
    isNew ? undefined : api.get(place),
    isTheme ? [] : api.get(KINDS.themes.path).then((found) => found.themes),
  ]);
  const source = api.resource(place);
  const back = () => router.go(to(`/${kind}`));
  const withTheme = (given) =>
    given.theme_id === "" ? { ...given, theme_id: null } : given.theme_id === "none" ? { ...given, theme_id: false } : given;
  const edited = (found) => ({ ...found, theme_id: found.theme_id === false ? "none" : (found.theme_id ?? "") });
  const element = form({
    fields: [
      { name: "display_name", label: t.name, required: true },
      !isTheme && { name: "subject_source", label: m.outbox.subject, help: m.emails.subjectHelp },
      {
        name: "html_source",
        label: m.emails.html,
        type: "long",
        rows: 16,
        required: true,
        help: isTheme ? m.emails.themeHelp : m.emails.htmlHelp,
        initial: isTheme ? SAMPLE_THEME : SAMPLE,
      },
      !isTheme && { name: "text_source", label: m.emails.text, type: "long", rows: 6, nullable: true, help: m.emails.textHelp },
      !isTheme && {
        name: "theme_id",
        label: m.emails.theme,
        type: "choice",
        options: [["", m.emails.defaultTheme], ["none", m.emails.noTheme], ...themes.map((theme) => [theme.id, theme.display_name])],
      },
      !isTheme && {
        name: "notification_category_name",
        label: m.emails.category,
        type: "choice",
        initial: CATEGORIES[0],
        options: CATEGORIES.map((name) => [name, name]),
        help: m.emails.categoryHelp,
      },
    ].filter(Boolean),
    values: isNew ? undefined : edited(item),
    verb: isNew ? words.create : t.save,
    cancel: back,
    reread: isNew ? undefined : async () => edited(await source.read()),
    send: (body) => (isNew ? api.post(whole, withTheme(body)) : source.change(withTheme(body))),
    request: (body) => api.request(isNew ? "POST" : "PATCH", isNew ? whole : place, { body: withTheme(body) }),
    done: (made) => (isNew ? router.go(to(`/${kind}/${made.id}`)) : undefined),
  });
  return h(
    "div",
    {},
    head(isNew ? words.create : shown(item.display_name, { max: 100 }), {
      lead: [m.emails.language, " ", link("/docs/emails", m.emails.languageLink)],
      actions: isNew ? [] : [curlButton(() => api.request("GET", place))],
    }),
    h("div", { class: "halves" }, element, live(api, element, isTheme)),
    !isTheme && !isNew && sending({ api, kind, item, to }),
    !isNew &&
      deletion({
        title: words.delete,
        text: words.deleteText,
        name: item.display_name,
        act: () => api.delete(place),
        done: back,
      }),
  );
}

/** The preview, which the API renders again whenever typing pauses. */
function live(api, element, isTheme) {
  const frame = preview();
  const subject = h("p", {});
  const problem = h("div");
  const sample = h("textarea", {
    rows: 3,
    spellcheck: "false",
    "aria-label": m.emails.variables,
    placeholder: '{"link": "https://example.com/"}',
  });
  let timer;
  let last = 0;
  async function render() {
    last += 1;
    const current = last;
    const [html, other] = [element.querySelectorAll("textarea")[0].value, element.querySelectorAll("input")[1]?.value];
    const theme = element.querySelector("select")?.value;
    const source = isTheme
      ? { theme_html_source: html, template_html_source: SAMPLE, template_subject_source: m.emails.sampleSubject }
      : { template_html_source: html, template_subject_source: other ?? "", theme_id: theme === "none" ? false : theme || null };
    try {
      const variables = { ...sampleVariables(`${html} ${other}`), ...parsed(sample.value) };
      const rendered = await api.post("/emails/render-email", { ...source, variables });
      if (current !== last) return;
      fill(problem);
      fill(subject, h("strong", {}, m.outbox.subject), " ", shown(rendered.subject, { max: 300 }));
      frame.show(rendered.html ?? rendered.text ?? "");
    } catch (error) {
      if (current === last) fill(problem, failure(error instanceof SyntaxError ? new Error(t.notJson) : error));
    }
  }
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(render, QUIET_MILLIS);
  };
  element.addEventListener("input", later);
  sample.addEventListener("input", later);
  setTimeout(render);
  return h(
    "section",
    { class: "live" },
    h("h2", {}, m.emails.preview),
    subject,
    problem,
    frame,
    fold(m.emails.variables, sample),
  );
}

/** Sends a draft, or a template with its variables, to users. */
function sending({ api, kind, item, to }) {
  const answer = h("div");
  const isDraft = kind === "drafts";
  const body = ({ user_ids: users, variables }) => ({
    [isDraft ? "draft_id" : "template_id"]: item.id,
    user_ids: users ?? [],
    ...(variables && { variables }),
  });
  return h(
    "section",
    {},
    heading(m.emails.send),
    h("p", { class: "muted" }, isDraft ? m.emails.sendText : m.emails.sendTemplateText),
    form({
      fields: [
        { name: "user_ids", label: m.emails.users, type: "lines", help: m.emails.usersHelp },
        !isDraft && {
          name: "variables",
          label: m.emails.variables,
          type: "json",
          initial: sampleVariables(`${item.html_source} ${item.subject_source} ${item.text_source}`),
        },
      ].filter(Boolean),
      verb: m.emails.send,
      send: async (_, found) =>
        api.post("/emails/send-email", body({ ...found, user_ids: await Promise.all(found.user_ids.map((user) => userId(api, user))) })),
      request: (_, found) => api.request("POST", "/emails/send-email", { body: body(found) }),
      done: (_, { user_ids: users }) => fill(answer, note("done", m.emails.sentTo(users.length), " ", link(to("/outbox"), m.emails.toOutbox))),
    }),
    answer,
  );
}
