// The providers that users sign in with, and the redirect URL to register at each provider.

import { deletion } from "../components/dialog.js";
import { form } from "../components/form.js";
import { table } from "../components/list.js";
import { button, code, empty, head, link, shown, tag } from "../components/parts.js";
import { h } from "../core/dom.js";
import { providers as words } from "../texts-providers.js";
import { texts as t } from "../texts.js";

const PATH = "/internal/projects/current";
/** The choice of an OpenID issuer without a known id. */
const OTHER = "+";
const FIELDS = ["type", "client_id", "issuer", "microsoft_tenant_id", "facebook_config_id", "authorization_endpoint", "apple_bundle_ids"];

const nameOf = (id) => words.names[id] ?? id;

/** A provider to send back without its secret, which the API then keeps. */
const kept = (provider) =>
  Object.fromEntries(
    ["id", ...FIELDS].filter((name) => provider[name] !== undefined && provider[name] !== null).map((name) => [name, provider[name]]),
  );

export async function view(context) {
  const { api, to, query, router } = context;
  const project = api.resource(PATH);
  const listOf = ({ config }) => config.oauth_providers;
  const providers = listOf(await project.read());
  const edited = query.get("edit");
  if (edited !== null)
    return edit({ ...context, project, listOf, providers, provider: providers.find((one) => one.id === edited), isNew: edited === "+" });
  const columns = [
    { label: words.provider, class: "wide", cell: (provider) => shown(nameOf(provider.id)) },
    {
      label: words.clientId,
      class: "wide",
      cell: (provider) => (provider.type === "shared" ? tag(words.shared) : shown(provider.client_id, { max: 60 })),
    },
  ];
  return h(
    "div",
    {},
    head(words.title, {
      lead: words.lead,
      actions: [h("a", { class: "button main", href: to("/providers", { edit: "+" }) }, words.add)],
    }),
    providers.length
      ? table({ columns, rows: providers, label: words.title, href: (provider) => to("/providers", { edit: provider.id }) })
      : empty({ ...words.none, action: button(words.add, () => router.go(to("/providers", { edit: "+" }))) }),
  );
}

async function edit({ api, to, router, project, listOf, providers, provider, isNew }) {
  if (!isNew && !provider) return h("div", {}, head(words.title), h("p", {}, words.gone));
  const back = () => router.go(to("/providers"));
  const write = (list) => ({ config: { oauth_providers: list } });
  // The API replaces the whole list of providers, so changes start from the list last read.
  let current = providers;
  const read = async () => (current = listOf(await project.read()));
  const redirect = (name) => `${location.origin}/api/v1/auth/oauth/callback/${name}`;
  const place = h("div");
  const showRedirect = (name) => place.replaceChildren(h("p", {}, words.redirect), code(redirect(name || "…")));
  showRedirect(provider?.id ?? "google");
  const others = (list) => list.filter((one) => one.id !== provider.id);
  const values = isNew ? undefined : { ...provider };
  const merged = ({ known, ...rest }, list) => {
    const given = known && known !== OTHER ? { ...rest, id: known } : rest;
    const mine = { ...kept(list.find((one) => one.id === (provider?.id ?? given.id)) ?? { id: given.id, type: "standard" }), ...given };
    return [...list.filter((one) => one.id !== mine.id), mine];
  };
  const chosen = (known) => (isNew ? known : provider.id);
  const isOwn = ({ type }) => type !== "shared";
  const element = form({
    fields: [
      isNew && {
        name: "known",
        label: words.provider,
        type: "choice",
        initial: "google",
        options: [...Object.entries(words.names), [OTHER, words.other]],
      },
      isNew && { name: "id", label: t.id, help: words.idHelp, when: ({ known }) => known === OTHER },
      {
        name: "type",
        label: words.type,
        type: "choice",
        initial: "standard",
        options: [
          ["standard", words.own],
          ["shared", words.shared],
        ],
        help: words.typeHelp,
      },
      { name: "client_id", label: words.clientId, when: isOwn },
      {
        name: "client_secret",
        label: words.secret,
        input: "password",
        when: isOwn,
        help: isNew ? words.newSecretHelp : words.secretHelp,
      },
      {
        name: "issuer",
        label: words.issuer,
        input: "url",
        help: words.issuerHelp,
        when: ({ known }) => !Object.hasOwn(words.names, chosen(known)),
      },
      {
        name: "microsoft_tenant_id",
        label: words.tenant,
        help: words.tenantHelp,
        when: ({ known }) => chosen(known) === "microsoft",
      },
      {
        name: "apple_bundle_ids",
        label: words.bundles,
        type: "lines",
        help: words.bundlesHelp,
        when: ({ known }) => chosen(known) === "apple",
      },
    ].filter(Boolean),
    values: values && { ...values, client_secret: "" },
    verb: isNew ? words.add : t.save,
    cancel: back,
    reread: async () => ({ ...(await read()).find((one) => one.id === provider?.id), client_secret: "" }),
    send: (given) => {
        if (isNew && current.some((one) => one.id === (given.known === OTHER ? given.id : given.known))) throw new Error(words.exists);
        return project.change(write(merged(given, current.map(kept))));
      },
    request: (given) => api.request("PATCH", PATH, { body: write(merged(given, providers.map(kept))) }),
    done: back,
  });
  if (isNew) {
    const [known, id] = element.querySelectorAll("select, input");
    element.addEventListener("input", () => showRedirect(known.value === OTHER ? id.value.trim() : known.value));
  }
  return h(
    "div",
    { class: "narrow" },
    head(isNew ? words.add : shown(nameOf(provider.id))),
    place,
    h("p", { class: "muted" }, words.guide, " ", link("/docs/guides/google-and-github", words.guideLink)),
    element,
    !isNew &&
      deletion({
        title: words.delete,
        text: words.deleteText,
        name: provider.id,
        act: () => project.replace((now) => write(others(listOf(now)).map(kept))),
        done: back,
      }),
  );
}
