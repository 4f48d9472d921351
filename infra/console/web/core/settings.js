// The settings of a project by area: the fields, and the editors for lists and objects. The default
// help texts come from the API's description.

import { at, nested } from "./values.js";

const idsOf = (list) => (list ?? []).map(({ id }) => id);
const withIds = (ids) => ids.map((id) => ({ id }));
const policies = ["off", "when-suspicious", "always"];

/** Trusted domains as lines: the domain and, if set, a space and the path of its pages. */
export const domainLines = (domains) => (domains ?? []).map(({ domain, handler_path: path }) => (path ? `${domain} ${path}` : domain));
export const domainsOf = (text) =>
  text.map((line) => {
    const [domain, path] = line.split(/\s+/);
    return path ? { domain, handler_path: path } : { domain };
  });

const flag = (name) => ({ name: `config.${name}`, type: "switch" });
const number = (name, more) => ({ name: `config.${name}`, type: "number", ...more });
const list = (name, more) => ({ name: `config.${name}`, type: "lines", ...more });
const withMail = (field) => ({ ...field, when: (values) => values["config.email_config.type"] !== "shared" });
const withTurnstile = (field) => ({ ...field, when: (values) => values["config.bot_challenge.provider"] === "turnstile" });
const withChallenge = (field) => ({ ...field, when: (values) => values["config.bot_challenge.provider"] !== "off" });
const choice = (name, options) => ({ name: `config.${name}`, type: "choice", options });
const text = (name, more) => ({ name, type: "text", ...more });
const permissions = (name) => list(name, { from: idsOf, into: withIds });

export const AREAS = {
  general: [
    text("display_name", { required: true }),
    text("description"),
    ...["logo_url", "logo_dark_mode_url", "logo_full_url", "logo_full_dark_mode_url"].map((name) =>
      text(name, { nullable: true, input: "url" }),
    ),
    { name: "is_production_mode", type: "switch" },
  ],
  "sign-in": [
    flag("sign_up_enabled"),
    flag("credential_enabled"),
    number("password_min_length", { min: 8, max: 128 }),
    flag("magic_link_enabled"),
    flag("passkey_enabled"),
    choice("passkey_user_verification", ["preferred", "required"]),
    list("passkey_rp_ids"),
    flag("require_email_verification"),
    choice("oauth_account_merge_strategy", ["link_method", "raise_error", "allow_duplicates"]),
    flag("client_user_deletion_enabled"),
    flag("anonymous_creation_enabled"),
    permissions("user_default_permissions"),
  ],
  sessions: [
    number("session_max_age_seconds", { min: 300, isDuration: true }),
    number("session_max_idle_seconds", { min: 300, isDuration: true }),
    number("reauthentication_max_age_seconds", { min: 0, isDuration: true }),
    { name: "access_token_algorithm", type: "choice", options: ["ES256", "RS256"] },
    flag("new_sign_in_mails"),
    {
      name: "config.disabled_notices",
      type: "choices",
      options: ["password", "sign-in-address", "authenticator-app", "provider-account", "api-key", "passkey"],
    },
  ],
  "second-factor": [
    flag("second_factor.required_of_everyone"),
    list("second_factor.required_of_permissions"),
    list("second_factor.required_of_teams"),
    number("second_factor.remember_device_days", { min: 0, max: 90 }),
    flag("passkey_replaces_second_factor"),
  ],
  domains: [
    list("domains", { from: domainLines, into: domainsOf, placeholder: "https://app.example.com /handler" }),
    flag("allow_localhost"),
    flag("require_publishable_client_key"),
  ],
  teams: [
    flag("client_team_creation_enabled"),
    number("max_teams_per_user", { min: 0, max: 200 }),
    flag("create_team_on_sign_up"),
    flag("member_invitations_enabled"),
    permissions("team_creator_default_permissions"),
    permissions("team_member_default_permissions"),
  ],
  "api-keys": [flag("allow_user_api_keys"), flag("allow_team_api_keys")],
  emails: [
    choice("email_config.type", ["shared", "standard"]),
    ...[
      text("config.email_config.sender_name"),
      text("config.email_config.sender_email", { input: "email" }),
      text("config.email_config.host"),
      number("email_config.port", { min: 1, max: 65_535 }),
      text("config.email_config.username"),
      text("config.email_config.password", { input: "password" }),
    ].map(withMail),
    { name: "config.email_theme", type: "choice", nullable: true },
  ],
  bots: [
    choice("bot_challenge.provider", ["off", "turnstile", "altcha"]),
    ...[text("config.bot_challenge.site_key", { nullable: true }), text("config.bot_challenge.secret_key", { input: "password" })].map(
      withTurnstile,
    ),
    ...["sign_up", "send_sign_in_code", "oauth"].map((name) => withChallenge(choice(`bot_challenge.${name}`, policies))),
    number("bot_challenge_usual_requests_per_hour", { min: 1, max: 1_000_000 }),
  ],
  audit: [number("audit_log_retention_days", { min: 1, max: 400 })],
};

/** Settings that have their own pages. */
export const ELSEWHERE = [
  "config.oauth_client_document_hosts",
  "config.oauth_client_documents_enabled",
  "config.oauth_client_registration_enabled",
  "config.oauth_providers",
  "config.sign_up_rules",
  "config.sign_up_rules_default_action",
];

/** The values of an area's fields, in editable form. */
export function valuesOf(fields, project) {
  return Object.fromEntries(fields.map(({ name, from }) => [name, from ? from(at(project, name)) : at(project, name)]));
}

/**
 * The body of a request that changes settings. `now` has all edited values of the area, `changes`
 * only those that differ. Sender and mail server (`email_config`) are one value in the API, so they
 * are sent together.
 */
export function bodyOf(fields, now, changes) {
  const isMail = (name) => name.startsWith("config.email_config.");
  const isShared = now["config.email_config.type"] === "shared";
  const hasMail = Object.keys(changes).some(isMail);
  const values = {};
  for (const { name, into } of fields) {
    const value = now[name];
    if (isMail(name) ? hasMail && (name.endsWith(".type") || (!isShared && value)) : Object.hasOwn(changes, name))
      values[name] = into ? into(value) : value;
  }
  return nested(values);
}

/** The description of a field in an OpenAPI document, from the body of an operation. */
export function described(document, operation, name) {
  const schemas = document.components.schemas;
  const resolved = (schema) => {
    const found = schema?.$ref ? schemas[schema.$ref.split("/").pop()] : schema;
    const inner = found?.oneOf ?? found?.anyOf ?? found?.allOf;
    return inner ? resolved(inner.find((one) => one.type !== "null")) : found;
  };
  let schema = operation.requestBody?.content?.["application/json"]?.schema;
  let property;
  for (const part of name.split(".")) {
    property = resolved(schema)?.properties?.[part];
    schema = property;
  }
  return property?.description?.replace(/\s+/g, " ").replaceAll("`", "") ?? "";
}
