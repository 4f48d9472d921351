// A webhook endpoint: its deliveries, its settings, its secret, and its deletion.

import { confirm, showOnce } from "../components/dialog.js";
import { form } from "../components/form.js";
import { list } from "../components/list.js";
import { work } from "../components/progress.js";
import { button, code, curlButton, facts, failure, head, heading, id, note, shown, tabs, time } from "../components/parts.js";
import { path } from "../core/api.js";
import { fill, h, newId } from "../core/dom.js";
import { printed } from "../core/values.js";
import { texts as t } from "../texts.js";
import { developers as d } from "../texts-developers.js";
import { EVENTS, fields, headerLines, sent, stateOf, stateOfDelivery } from "./webhooks.js";

const PARTS = { deliveries, settings };
const DAY = 86_400_000;

export async function view(context) {
  const { api, to, parameters, query } = context;
  const place = path`/internal/webhook-endpoints/${parameters.webhook}`;
  const endpoint = await api.get(place);
  const current = query.get("part") === "settings" ? "settings" : "deliveries";
  const tab = (name) => [to(`/webhooks/${endpoint.id}`, { part: name === "deliveries" ? "" : name }), d.webhooks.parts[name], name];
  return h(
    "div",
    {},
    head(shown(endpoint.url, { max: 120 }), {
      lead: stateOf(endpoint),
      actions: current === "settings" ? [curlButton(() => api.request("GET", place))] : [],
    }),
    tabs(Object.keys(PARTS).map(tab), current, d.webhooks.title),
    PARTS[current]({ ...context, endpoint, place }),
  );
}

function deliveries({ api, router, endpoint, place, refresh }) {
  const answer = h("div", { "aria-live": "polite" });
  const test = async () => {
    fill(answer, h("p", { class: "muted" }, t.working));
    try {
      const { success, error_message: text } = await api.post("/internal/send-test-webhook", { endpoint_id: endpoint.id });
      fill(answer, success ? note("done", d.webhooks.testDone) : note("failed", shown(text ?? d.webhooks.testFailed, { max: 500 })));
      all.reload();
    } catch (error) {
      fill(answer, failure(error));
    }
  };
  const replay = async (delivery) => {
    const act = () => api.post(`${place}${path`/deliveries/${delivery.id}/replay`}`);
    if (await confirm({ title: d.webhooks.replay, text: d.webhooks.replayText, act })) all.reload();
  };
  const replayFailed = async () => {
    if (await replayAllFailed(api, `${place}/replay-failed`)) await refresh();
  };
  const all = list({
    api,
    router,
    path: `${place}/deliveries`,
    isLive: true,
    label: d.webhooks.parts.deliveries,
    choices: [
      { name: "status", label: t.state, options: [["", d.webhooks.anyStatus], ...Object.entries(d.webhooks.statuses)] },
      { name: "event_type", label: d.webhooks.event, options: [["", d.webhooks.anyEvent], ...EVENTS.map((name) => [name, name])] },
    ],
    columns: [
      { label: d.webhooks.event, class: "wide", cell: (delivery) => [shown(delivery.event_type), inside(delivery)] },
      { label: t.state, class: "fit", cell: (delivery) => stateOfDelivery(delivery.status) },
      {
        label: d.webhooks.attempts,
        class: "fit number",
        cell: (delivery) => [
          String(delivery.attempts.length),
          delivery.attempts.at(-1)?.response_status && h("small", {}, `HTTP ${delivery.attempts.at(-1).response_status}`),
        ],
      },
      { label: t.created, class: "fit", cell: (delivery) => time(delivery.created_at_millis) },
      { label: "", class: "end actions", cell: (delivery) => button(d.webhooks.replay, () => replay(delivery), { class: "small-button" }) },
    ],
    none: d.webhooks.noDelivery,
  });
  return h(
    "div",
    {},
    h("div", { class: "buttons" }, button(d.webhooks.test, test), button(d.webhooks.replayFailed, replayFailed)),
    answer,
    all,
  );
}

/**
 * Redelivers failed events, page by page. Returns whether anything may have been delivered. Skips
 * events that fail after the start, because the work might otherwise never end.
 */
function replayAllFailed(api, place) {
  const period = h(
    "select",
    { id: newId("period") },
    d.webhooks.periods.map(([days, text]) => h("option", { value: days }, text)),
  );
  const begun = Date.now();
  let since = null;
  let total = 0;
  return work({
    title: d.webhooks.replayFailed,
    text: d.webhooks.replayFailedText,
    verb: d.webhooks.replayFailed,
    begin: h("div", { class: "field" }, h("label", { for: period.id }, d.webhooks.period), period),
    step: async () => {
      since ??= begun - period.value * DAY;
      const { count, next_since_millis: next } = await api.post(place, { since_millis: since });
      total += count;
      since = next;
      return next !== null && next < begun;
    },
    progress: () => d.webhooks.replayed(total),
    finished: () => d.webhooks.replayedAll(total),
  });
}

/** A delivery's payload and attempts. */
function inside(delivery) {
  const attempts = delivery.attempts.map((attempt) =>
    h(
      "li",
      {},
      time(attempt.at_millis),
      " · ",
      attempt.response_status ? `HTTP ${attempt.response_status}` : shown(attempt.error, { max: 300 }),
      ` · ${attempt.duration_millis} ms`,
      attempt.response_body && [" ", h("code", {}, shown(attempt.response_body, { max: 300 }))],
    ),
  );
  return h("details", { class: "inside" }, h("summary", {}, d.webhooks.inside), h("ol", {}, attempts), code(printed(delivery.payload)));
}

function settings({ api, endpoint, place, router, to, refresh }) {
  const resource = api.resource(place);
  const flat = (one) => ({ ...one, custom_headers: headerLines(one.custom_headers) });
  const rotate = async () => {
    let secret;
    const act = async () => {
      ({ secret } = await api.post(`${place}/rotate-secret`));
    };
    if (!(await confirm({ title: d.webhooks.rotate, text: d.webhooks.rotateText, act }))) return;
    await showOnce(d.webhooks.rotate, d.webhooks.secretText, [[d.webhooks.secret, secret]]);
    await refresh();
  };
  const remove = async () => {
    const act = () => api.delete(place);
    if (await confirm({ title: d.webhooks.delete, text: d.webhooks.deleteText, name: endpoint.url, act })) await router.go(to("/webhooks"));
  };
  return h(
    "div",
    { class: "narrow" },
    facts(
      [t.id, id(endpoint.id)],
      [d.webhooks.secret, `••••••••${endpoint.secret_last_four}`],
      [t.created, time(endpoint.created_at_millis, { isLong: true })],
    ),
    form({
      fields: [...fields(), { name: "enabled", label: d.webhooks.isEnabled, type: "switch" }],
      values: flat(endpoint),
      verb: t.save,
      reread: async () => flat(await resource.read()),
      send: (body) => resource.change(sent(body)),
      request: (body) => api.request("PATCH", place, { body: sent(body) }),
      done: refresh,
    }),
    h(
      "section",
      { class: "danger-area" },
      heading(d.webhooks.rotate),
      h("p", {}, d.webhooks.rotateText),
      button(d.webhooks.rotate, rotate),
      heading(d.webhooks.delete),
      h("p", {}, d.webhooks.deleteText),
      button(d.webhooks.delete, remove, { class: "danger" }),
    ),
  );
}
