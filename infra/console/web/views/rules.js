// The sign-up rules of a project, how often each rule matched, and a form to test them.

import { deletion } from "../components/dialog.js";
import { form, posts } from "../components/form.js";
import { table } from "../components/list.js";
import { empty, head, heading, shown, state, tabs, tag } from "../components/parts.js";
import { fill, h } from "../core/dom.js";
import { count, title } from "../core/format.js";
import { texts as t } from "../texts.js";
import { rules as r } from "../texts-rules.js";

const PATH = "/internal/projects/current";
const TONES = { allow: "done", reject: "failed", restrict: "waiting", log: "aside" };

export async function view(context) {
  const { api, to, query } = context;
  const project = api.resource(PATH);
  const read = async () => (await project.read()).config;
  const config = await read();
  const edited = query.get("edit");
  if (edited !== null) return edit({ ...context, project, read, rules: config.sign_up_rules, edited, isNew: edited === "+" });
  const part = query.get("part") === "test" ? "test" : "rules";
  const tab = (name) => [to("/sign-up-rules", { part: name === "rules" ? "" : name }), r.parts[name], name];
  return h(
    "div",
    {},
    head(r.title, {
      lead: r.lead,
      actions: [h("a", { class: "button main", href: to("/sign-up-rules", { edit: "+" }) }, r.create)],
    }),
    tabs([tab("rules"), tab("test")], part, r.title),
    part === "test" ? tester(context) : await all({ ...context, project, config, read }),
  );
}

async function all({ api, to, project, config, read }) {
  const stats = await api.get("/internal/sign-up-rules-stats");
  const times = (rule) => stats.rule_triggers.find(({ rule_id: id }) => id === rule.id);
  const rows = config.sign_up_rules.toSorted((a, b) => b.priority - a.priority || (a.id < b.id ? -1 : 1));
  const columns = [
    { label: r.rule, class: "wide", cell: (rule) => [shown(rule.display_name || rule.id, { max: 80 })] },
    { label: r.condition, class: "wide", cell: (rule) => h("code", {}, shown(rule.condition, { max: 160 })) },
    {
      label: r.action,
      class: "fit",
      cell: (rule) => [state(TONES[rule.action.type], title(rule.action.type)), !rule.enabled && [" ", tag(r.off)]],
    },
    {
      label: r.matched,
      class: "fit end number",
      cell: (rule) => [
        count(times(rule)?.all_time_count ?? 0),
        h("small", {}, r.lately(count(times(rule)?.total_count ?? 0), stats.analytics_hours)),
      ],
    },
  ];
  const values = { "config.sign_up_rules_default_action": config.sign_up_rules_default_action };
  return h(
    "div",
    {},
    rows.length
      ? table({ columns, rows, label: r.title, href: (rule) => to("/sign-up-rules", { edit: rule.id }) })
      : empty({ ...r.none, action: h("a", { class: "button", href: to("/sign-up-rules", { edit: "+" }) }, r.create) }),
    heading(r.otherwise),
    form({
      fields: [
        {
          name: "config.sign_up_rules_default_action",
          label: r.otherwiseAction,
          type: "choice",
          options: [
            ["allow", title("allow")],
            ["reject", title("reject")],
          ],
        },
      ],
      values,
      verb: t.save,
      reread: async () => ({ "config.sign_up_rules_default_action": (await read()).sign_up_rules_default_action }),
      send: (body) => project.change(body),
      request: (body) => api.request("PATCH", PATH, { body }),
    }),
  );
}

async function edit({ api, to, router, project, read, rules, edited, isNew }) {
  const rule = rules.find(({ id }) => id === edited);
  if (!isNew && !rule) return h("div", {}, head(r.title), h("p", {}, r.gone));
  const back = () => router.go(to("/sign-up-rules"));
  const flat = ({ action, ...rest }) => ({ ...rest, "action.type": action.type, "action.message": action.message ?? "" });
  const whole = (values) => ({
    id: values.id ?? rule.id,
    display_name: values.display_name || null,
    enabled: values.enabled,
    priority: values.priority ?? 0,
    condition: values.condition,
    action: { type: values["action.type"], ...(values["action.message"] && { message: values["action.message"] }) },
  });
  // The API replaces the whole list of rules, so changes start from the list last read.
  let current = rules;
  const reread = async () => (current = (await read()).sign_up_rules);
  const write = (list) => ({ config: { sign_up_rules: list } });
  const others = (list, id) => list.filter((one) => one.id !== id);
  const withRule = (mine) => [...others(current, mine.id), mine];
  return h(
    "div",
    { class: "narrow" },
    head(isNew ? r.create : shown(rule.display_name || rule.id, { max: 80 })),
    form({
      fields: [
        isNew && { name: "id", label: t.id, required: true, help: r.idHelp },
        { name: "display_name", label: r.name },
        {
          name: "condition",
          label: r.condition,
          type: "long",
          required: true,
          help: r.conditionHelp,
          initial: 'emailDomain == "example.com"',
        },
        {
          name: "action.type",
          label: r.action,
          type: "choice",
          initial: "reject",
          options: Object.keys(TONES).map((name) => [name, title(name)]),
          help: r.actionHelp,
        },
        { name: "action.message", label: r.message, help: r.messageHelp },
        { name: "priority", label: r.priority, type: "number", min: 0, initial: 0, help: r.priorityHelp },
        { name: "enabled", label: r.enabled, type: "switch", initial: true },
      ].filter(Boolean),
      values: isNew ? undefined : flat(rule),
      verb: isNew ? r.create : t.save,
      cancel: back,
      reread: async () => {
        const now = (await reread()).find(({ id }) => id === rule?.id) ?? rule;
        return now && flat(now);
      },
      send: (_, values) => {
        const mine = whole(values);
        if (isNew && current.some(({ id }) => id === mine.id)) throw new Error(r.exists);
        return project.change(write(withRule(mine)));
      },
      request: (_, values) => api.request("PATCH", PATH, { body: write(withRule(whole(values))) }),
      done: back,
    }),
    !isNew &&
      deletion({
        title: r.delete,
        text: r.deleteText,
        name: rule.display_name || rule.id,
        act: () => project.replace(({ config }) => write(others(config.sign_up_rules, rule.id))),
        done: back,
      }),
  );
}

function tester({ api }) {
  const answer = h("div", { "aria-live": "polite" });
  const body = (values) => ({
    email: values.email || null,
    auth_method: values.auth_method,
    oauth_provider: (values.auth_method === "oauth" && values.oauth_provider) || null,
    country_code: values.country_code || null,
    risk_scores: { bot: values.bot ?? 0, free_trial_abuse: values.free_trial_abuse ?? 0 },
    turnstile_result: values.turnstile_result,
  });
  const choices = (texts, ...values) => values.map((value) => [value, texts[value]]);
  return h(
    "div",
    { class: "narrow" },
    h("p", { class: "muted" }, r.testText),
    form({
      fields: [
        { name: "email", label: t.users.email, initial: "ada@example.com" },
        {
          name: "auth_method",
          label: r.method,
          type: "choice",
          initial: "password",
          options: choices(t.methods, "password", "otp", "oauth", "passkey"),
        },
        { name: "oauth_provider", label: r.provider, help: r.providerHelp, when: (values) => values.auth_method === "oauth" },
        { name: "country_code", label: r.country, help: r.countryHelp },
        { name: "bot", label: r.bot, type: "number", min: 0, max: 100, initial: 0 },
        { name: "free_trial_abuse", label: r.abuse, type: "number", min: 0, max: 100, initial: 0 },
        { name: "turnstile_result", label: r.challenge, type: "choice", initial: "ok", options: choices(r.challenges, "ok", "invalid", "error") },
      ],
      verb: r.test,
      ...posts(api, "/internal/sign-up-rules-test", (_, values) => body(values)),
      done: (found) => fill(answer, verdict(found)),
    }),
    answer,
  );
}

function verdict({ outcome, evaluations }) {
  const columns = [
    { label: r.rule, class: "wide", cell: (one) => shown(one.display_name || one.rule_id, { max: 80 }) },
    { label: r.condition, class: "wide", cell: (one) => h("code", {}, shown(one.condition, { max: 160 })) },
    {
      label: r.result,
      class: "wide",
      cell: (one) => [title(one.status), one.error && h("small", { class: "failed" }, shown(one.error, { max: 300 }))],
    },
    { label: r.action, class: "fit end", cell: (one) => title(one.action.type) },
  ];
  return h(
    "section",
    {},
    heading(r.verdict),
    h(
      "p",
      {},
      state(outcome.should_allow ? "done" : "failed", r.decisions(outcome.should_allow)),
      " ",
      h("span", { class: "muted" }, r.because(outcome)),
    ),
    evaluations.length ? table({ columns, rows: evaluations, label: r.verdict }) : h("p", { class: "muted" }, r.noRule),
  );
}
