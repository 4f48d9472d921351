// An operation of the API: its description, and a form that sends it with the project's access.

import { confirm } from "../components/dialog.js";
import { button, code, curlButton, failure, head, heading, link, note, state } from "../components/parts.js";
import { ApiError } from "../core/api.js";
import { fill, h, newId } from "../core/dom.js";
import { document, exampleOf, operations, resolved } from "../core/openapi.js";
import { parsed, printed } from "../core/values.js";
import { texts as t } from "../texts.js";
import { developers as d } from "../texts-developers.js";

const PREFIX = "/api/v1";

export async function view(context) {
  const openapi = await document();
  const operation = operations(openapi).find(({ id }) => id === context.parameters.operation);
  if (!operation) return h("div", {}, h("h1", { tabindex: "-1" }, t.notFound.title), h("p", {}, t.notFound.text));
  const parameters = (operation.parameters ?? []).filter((parameter) => parameter.in !== "header");
  const body = operation.requestBody?.content?.["application/json"]?.schema;
  const tried = attempt({ ...context, openapi, operation, parameters, schema: body });
  const tryIt = () => tried.querySelector("select").focus();
  return h(
    "div",
    {},
    head(operation.summary, {
      lead: [h("span", { class: `method ${operation.method}` }, operation.method), " ", h("code", { class: "route" }, operation.path)],
      actions: body && tried.matches("form") ? [button(d.reference.tryIt, tryIt)] : [],
    }),
    operation.description && h("p", {}, operation.description.replaceAll("`", "")),
    h("p", {}, link(`/docs/api/${operation.id}`, d.reference.whole)),
    body && [heading(d.reference.fields), fieldsOf(openapi, body)],
    heading(d.reference.tryIt),
    tried,
  );
}

function fieldsOf(openapi, schema) {
  const { properties = {}, required = [] } = resolved(openapi, schema);
  const rows = Object.entries(properties).map(([name, field]) => {
    const whole = resolved(openapi, field);
    const type = whole.enum ? whole.enum.join(" | ") : [whole.type].flat().filter(Boolean).join(" | ");
    return h(
      "tr",
      {},
      h("td", {}, h("code", {}, name), required.includes(name) && h("span", { class: "required" }, ` ${d.reference.required}`)),
      h("td", {}, type),
      h("td", {}, (field.description ?? whole.description ?? "").replaceAll("`", "")),
    );
  });
  return h(
    "table",
    { class: "fields" },
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        [d.reference.field, d.reference.type, d.reference.meaning].map((text) => h("th", { scope: "col" }, text)),
      ),
    ),
    h("tbody", {}, rows),
  );
}

/** Selects the request's access level. `api()` returns the client that sends the request. */
function access({ api, session, projectId, operation }) {
  const hasKeys = session.local?.project_id === projectId;
  const levels = ["admin", ...(hasKeys ? ["server"] : []), ...(operation["x-access"] === "client" ? ["client"] : [])];
  const level = h(
    "select",
    { id: newId("level") },
    levels.map((name) => h("option", { value: name }, d.reference.levels[name])),
  );
  const token = h("input", { id: newId("token"), autocomplete: "off", spellcheck: "false" });
  const help = h("small", { id: newId("help") }, d.reference.tokenHelp);
  token.setAttribute("aria-describedby", help.id);
  const ofUser = h("div", { class: "field", hidden: true }, h("label", { for: token.id }, d.reference.token), token, help);
  level.addEventListener("change", () => {
    ofUser.hidden = level.value !== "client";
  });
  return {
    element: [h("div", { class: "field" }, h("label", { for: level.id }, d.reference.access), level), ofUser],
    api: () => (level.value === "admin" ? api : session.as(projectId, level.value, level.value === "client" ? token.value.trim() : "")),
  };
}

/** The form that sends the request. Requests that may change something must be confirmed. */
function attempt(context) {
  const { operation, openapi, parameters, schema } = context;
  const sender = access(context);
  const inputs = new Map(
    parameters.map((parameter) => [
      parameter,
      h("input", { id: newId("parameter"), autocomplete: "off", spellcheck: "false", required: parameter.required }),
    ]),
  );
  const body = schema && h("textarea", { rows: 10, id: newId("body"), spellcheck: "false", value: printed(exampleOf(openapi, schema)) });
  const answer = h("div", { "aria-live": "polite" });
  const isPublic = !operation.path.startsWith(PREFIX);

  function made() {
    let path = operation.path.slice(PREFIX.length);
    const query = {};
    for (const [parameter, input] of inputs) {
      if (parameter.in === "path") path = path.replace(`{${parameter.name}}`, encodeURIComponent(input.value));
      else if (input.value) query[parameter.name] = input.value;
    }
    return { path, options: { query, body: body ? (parsed(body.value) ?? {}) : undefined } };
  }

  async function send(event) {
    event.preventDefault();
    let request;
    try {
      request = made();
    } catch {
      fill(answer, note("failed", t.notJson));
      return;
    }
    const run = async () => {
      fill(answer, h("p", { class: "muted" }, t.working));
      const started = performance.now();
      const took = () => d.reference.took(Math.round(performance.now() - started));
      try {
        const found = await sender.api().call(operation.method, request.path, request.options);
        fill(answer, h("p", {}, state("done", d.reference.succeeded), " ", h("span", { class: "muted" }, took())), code(printed(found)));
      } catch (error) {
        fill(
          answer,
          failure(error),
          error instanceof ApiError &&
            error.status > 0 &&
            h("p", {}, state("failed", `HTTP ${error.status}`), " ", h("span", { class: "muted" }, took())),
        );
      }
    };
    if (operation.method === "GET") await run();
    else
      await confirm({
        title: operation.summary,
        text: d.reference.changes,
        verb: d.reference.send,
        act: async () => {
          run();
        },
      });
  }

  if (isPublic) return h("p", { class: "muted" }, d.reference.elsewhere);
  return h(
    "form",
    { class: "narrow", onsubmit: send },
    sender.element,
    [...inputs].map(([parameter, input]) =>
      h(
        "div",
        { class: "field" },
        h("label", { for: input.id }, h("code", {}, parameter.name)),
        input,
        parameter.description && h("small", {}, parameter.description.replaceAll("`", "")),
      ),
    ),
    body && h("div", { class: "field" }, h("label", { for: body.id }, d.reference.body), body),
    h(
      "div",
      { class: "buttons" },
      button(d.reference.send, null, { type: "submit", class: "main" }),
      curlButton(() => {
        const { path, options } = made();
        return sender.api().request(operation.method, path, options);
      }),
    ),
    answer,
  );
}
