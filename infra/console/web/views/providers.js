// The providers that users sign in with, and the redirect URL to register at each provider.

import { deletion } from "../components/dialog.js";
import { form } from "../components/form.js";
import { table } from "../components/list.js";
import { button, code, empty, head, link, shown, tag } from "../components/parts.js";
import { h } from "../core/dom.js";
import { texts as t } from "../texts.js";

const PATH = "/internal/projects/current";
/** The choice of an OpenID issuer without a known id. */
const OTHER = "+";
const FIELDS = ["type", "client_id", "issuer", "microsoft_tenant_id", "facebook_config_id", "authorization_endpoint", "apple_bundle_ids"];

const nameOf = (id) => t.providers.names[id] ?? id;

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
    { label: t.providers.provider, class: "wide", cell: (provider) => shown(nameOf(provider.id)) },
    {
      label: t.providers.clientId,
      class: "wide",
      cell: (provider) => (provider.type === "shared" ? tag(t.providers.shared) : shown(provider.client_id, { max: 60 })),
    },
  ];
  return h(
    "div",
    {},
    head(t.providers.title, {
      lead: t.providers.lead,
      actions: [h("a", { class: "button main", href: to("/providers", { edit: "+" }) }, t.providers.add)],
    }),
    providers.length
      ? table({ columns, rows: providers, label: t.providers.title, href: (provider) => to("/providers", { edit: provider.id }) })
      : empty({ ...t.providers.none, action: button(t.providers.add, () => router.go(to("/providers", { edit: "+" }))) }),
  );
}

async function edit({ api, to, router, project, listOf, providers, provider, isNew }) {
  if (!isNew && !provider) return h("div", {}, head(t.providers.title), h("p", {}, t.providers.gone));
  const back = () => router.go(to("/providers"));
  const write = (list) => ({ config: { oauth_providers: list } });
  // The API replaces the whole list of providers, so changes start from the list last read.
  let current = providers;
  const read = async () => (current = listOf(await project.read()));
  const redirect = (name) => `${location.origin}/api/v1/auth/oauth/callback/${name}`;
  const place = h("div");
  const showRedirect = (name) => place.replaceChildren(h("p", {}, t.providers.redirect), code(redirect(name || "…")));
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
        label: t.providers.provider,
        type: "choice",
        initial: "google",
        options: [...Object.entries(t.providers.names), [OTHER, t.providers.other]],
      },
      isNew && { name: "id", label: t.id, help: t.providers.idHelp, when: ({ known }) => known === OTHER },
      {
        name: "type",
        label: t.providers.type,
        type: "choice",
        initial: "standard",
        options: [
          ["standard", t.providers.own],
          ["shared", t.providers.shared],
        ],
        help: t.providers.typeHelp,
      },
      { name: "client_id", label: t.providers.clientId, when: isOwn },
      {
        name: "client_secret",
        label: t.providers.secret,
        input: "password",
        when: isOwn,
        help: isNew ? t.providers.newSecretHelp : t.providers.secretHelp,
      },
      {
        name: "issuer",
        label: t.providers.issuer,
        input: "url",
        help: t.providers.issuerHelp,
        when: ({ known }) => !Object.hasOwn(t.providers.names, chosen(known)),
      },
      {
        name: "microsoft_tenant_id",
        label: t.providers.tenant,
        help: t.providers.tenantHelp,
        when: ({ known }) => chosen(known) === "microsoft",
      },
      {
        name: "apple_bundle_ids",
        label: t.providers.bundles,
        type: "lines",
        help: t.providers.bundlesHelp,
        when: ({ known }) => chosen(known) === "apple",
      },
    ].filter(Boolean),
    values: values && { ...values, client_secret: "" },
    verb: isNew ? t.providers.add : t.save,
    cancel: back,
    reread: async () => ({ ...(await read()).find((one) => one.id === provider?.id), client_secret: "" }),
    send: (given) => {
        if (isNew && current.some((one) => one.id === (given.known === OTHER ? given.id : given.known))) throw new Error(t.providers.exists);
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
    head(isNew ? t.providers.add : shown(nameOf(provider.id))),
    place,
    h("p", { class: "muted" }, t.providers.guide, " ", link("/docs/guides/google-and-github", t.providers.guideLink)),
    element,
    !isNew &&
      deletion({
        title: t.providers.delete,
        text: t.providers.deleteText,
        name: provider.id,
        act: () => project.replace((now) => write(others(listOf(now)).map(kept))),
        done: back,
      }),
  );
}
