// The first requests with each framework, with the project's ids and keys filled in.

import { form } from "../components/form.js";
import { code, facts, head, id, link, secret, tabs } from "../components/parts.js";
import { fill, h } from "../core/dom.js";
import { texts as t } from "../texts.js";
import { developers as d } from "../texts-developers.js";
import { keys as k } from "../texts-keys.js";

const SDK = "2.8.108";
const CALLBACK = "/handler/email-verification";

/** Keys entered by the user, by project; kept until the page is reloaded or closed. */
const given = new Map();

/**
 * The steps for each framework: alternating texts and code blocks. `steps` takes the project's
 * values, with placeholders for unknown keys.
 */
export const frameworks = {
  http: { guide: "http", steps: http },
  javascript: { guide: "react", steps: javascript },
  react: { guide: "react", steps: react },
  nextjs: { guide: "nextjs", steps: nextjs },
  node: { guide: "node-backend", steps: node },
  python: { guide: "python-backend", steps: python },
};

function http({ origin, projectId, clientKey, serverKey, number }) {
  const client = `  -H 'X-Service-Access-Type: client' \\\n  -H 'X-Service-Project-Id: ${projectId}' \\\n  -H 'X-Service-Publishable-Client-Key: ${clientKey}'`;
  const server = `  -H 'X-Service-Access-Type: server' \\\n  -H 'X-Service-Project-Id: ${projectId}' \\\n  -H 'X-Service-Secret-Server-Key: ${serverKey}'`;
  return [
    d.quick.signUp,
    `curl ${origin}/api/v1/auth/password/sign-up \\\n${client} \\\n  --json '{"email": "ada.${number}@example.com", "password": "correct horse battery",\n    "verification_callback_url": "${origin}${CALLBACK}"}'`,
    d.quick.listUsers,
    `curl '${origin}/api/v1/users?limit=20&desc=true' \\\n${server}`,
  ];
}

function javascript({ origin, projectId, clientKey, serverKey }) {
  const app = (kind, more) => `import { ${kind} } from "@stackframe/js";

const app = new ${kind}({
  baseUrl: "${origin}",
  projectId: "${projectId}",
  publishableClientKey: "${clientKey}",
  ${more}
});`;
  return [
    d.quick.install,
    `npm install @stackframe/js@${SDK}`,
    d.quick.saveClient,
    `${app("StackClientApp", 'tokenStore: "memory", // "cookie" in a browser')}

await app.signUpWithCredential({
  email: \`ada.\${Date.now()}@example.com\`,
  password: "correct horse battery",
  verificationCallbackUrl: "${origin}${CALLBACK}",
  noRedirect: true,
});
const user = await app.getUser();
console.log(user.id, user.primaryEmail, user.primaryEmailVerified);`,
    d.quick.saveServer,
    `${app("StackServerApp", `secretServerKey: "${serverKey}",\n  tokenStore: "memory",`)}

for (const user of await app.listUsers({ orderBy: "signedUpAt", desc: true, limit: 20 })) console.log(user.id, user.primaryEmail);`,
  ];
}

function react({ origin, projectId, clientKey }) {
  return [
    d.quick.inApp,
    `npm install @stackframe/react@${SDK}`,
    d.quick.variables,
    `VITE_GATELET_URL=${origin}
VITE_GATELET_PROJECT_ID=${projectId}
VITE_GATELET_CLIENT_KEY=${clientKey}`,
    d.quick.connection("src/stack.js"),
    `import { StackClientApp } from "@stackframe/react";

export const stack = new StackClientApp({
  baseUrl: import.meta.env.VITE_GATELET_URL,
  projectId: import.meta.env.VITE_GATELET_PROJECT_ID,
  publishableClientKey: import.meta.env.VITE_GATELET_CLIENT_KEY,
  tokenStore: "cookie",
  redirectMethod: "window",
  devTool: false,
  analytics: { enabled: false },
});`,
  ];
}

function nextjs({ origin, projectId, clientKey, serverKey }) {
  return [
    d.quick.inApp,
    `npm install @stackframe/stack@${SDK}`,
    d.quick.variables,
    `NEXT_PUBLIC_STACK_API_URL=${origin}
NEXT_PUBLIC_STACK_PROJECT_ID=${projectId}
NEXT_PUBLIC_STACK_PUBLISHABLE_CLIENT_KEY=${clientKey}
STACK_SECRET_SERVER_KEY=${serverKey}`,
    d.quick.connection("stack/client.js"),
    `import { StackClientApp } from "@stackframe/stack";

export const client = new StackClientApp({
  baseUrl: process.env.NEXT_PUBLIC_STACK_API_URL,
  projectId: process.env.NEXT_PUBLIC_STACK_PROJECT_ID,
  publishableClientKey: process.env.NEXT_PUBLIC_STACK_PUBLISHABLE_CLIENT_KEY,
  tokenStore: "nextjs-cookie",
  urls: { handler: "/handler", afterSignIn: "/", afterSignUp: "/" },
  devTool: false,
  analytics: { enabled: false },
});`,
  ];
}

function node({ origin, projectId }) {
  return [
    d.quick.install,
    "npm install jose",
    d.quick.verify("verify.mjs"),
    `import { createRemoteJWKSet, jwtVerify } from "jose";

const project = "${projectId}";
const issuer = \`${origin}/api/v1/projects/\${project}\`;
const keys = createRemoteJWKSet(new URL(\`\${issuer}/.well-known/jwks.json\`));

/** The claims of an access token; throws if the token is invalid. */
export async function verify(token) {
  const options = { issuer, audience: project, algorithms: ["ES256"], typ: "at+jwt", requiredClaims: ["exp", "sub"] };
  const { payload } = await jwtVerify(token, keys, options);
  return payload;
}`,
  ];
}

function python({ origin, projectId, serverKey }) {
  return [
    d.quick.installPython,
    'python3 -m venv .venv\n.venv/bin/pip install --quiet "pyjwt[crypto]"',
    d.quick.verify("verify.py"),
    `import jwt

PROJECT = "${projectId}"
ISSUER = f"${origin}/api/v1/projects/{PROJECT}"
KEYS = jwt.PyJWKClient(f"{ISSUER}/.well-known/jwks.json", lifespan=3600)


def verify(token):
    """The claims of an access token; raises jwt.PyJWTError if it is invalid."""
    if jwt.get_unverified_header(token).get("typ") != "at+jwt":
        raise jwt.InvalidTokenError("not an access token")
    key = KEYS.get_signing_key_from_jwt(token)
    required = {"require": ["exp", "sub"]}
    return jwt.decode(token, key, algorithms=["ES256"], issuer=ISSUER, audience=PROJECT, options=required)`,
    d.quick.callPython,
    `import json
import urllib.request

HEADERS = {
    "x-service-access-type": "server",
    "x-service-project-id": "${projectId}",
    "x-service-secret-server-key": "${serverKey}",
}
request = urllib.request.Request("${origin}/api/v1/users?limit=20&desc=true", headers=HEADERS)
with urllib.request.urlopen(request, timeout=10) as answer:
    for user in json.load(answer)["items"]:
        print(user["id"], user["primary_email"])`,
  ];
}

/** A block with its secret masked on the page, but complete in the clipboard. */
function masked(text, key) {
  if (!key || !text.includes(key)) return code(text);
  const block = code(text.replaceAll(key, `${key.slice(0, 4)}••••••••`));
  block.querySelector("button").dataset.copy = text;
  return block;
}

export async function view({ session, projectId, query, to }) {
  const local = session.local?.project_id === projectId ? session.local : null;
  const origin = session.local?.api_url ?? location.origin;
  const current = Object.hasOwn(frameworks, query.get("with")) ? query.get("with") : "http";
  const { guide, steps } = frameworks[current];
  const number = crypto.getRandomValues(new Uint16Array(1))[0];
  const place = h("div");
  const show = () => {
    const put = given.get(projectId);
    const clientKey = local?.publishable_client_key ?? put?.client ?? "pck_…";
    const serverKey = local?.secret_server_key ?? put?.server ?? "ssk_…";
    const made = steps({ origin, projectId, clientKey, serverKey, number });
    const hasServerKey = serverKey !== "ssk_…" && made.some((part) => part.includes(serverKey));
    fill(
      place,
      made.map((part, index) => (index % 2 ? masked(part, hasServerKey && serverKey) : h("p", {}, part))),
      hasServerKey && h("p", { class: "muted" }, d.quick.serverText),
    );
  };
  show();
  const tab = (name) => [to("/quick-start", { with: name === "http" ? "" : name }), d.quick.frameworks[name], name];
  return h(
    "div",
    {},
    head(d.quick.title, { lead: d.quick.lead(origin) }),
    facts(
      [k.project, id(projectId)],
      local && [k.kinds.client, id(local.publishable_client_key), h("small", { class: "muted" }, k.clientHelp)],
      local && [k.kinds.server, secret(local.secret_server_key), h("small", { class: "muted" }, k.serverHelp)],
    ),
    !local && ownKeys({ projectId, to, show }),
    tabs(Object.keys(frameworks).map(tab), current, d.quick.choose),
    place,
    current === "http" && local && h("p", {}, d.quick.inbox, " ", link("/inbox", d.quick.inboxLink)),
    h("p", {}, d.quick.more, " ", link(`/docs/guides/${guide}`, d.quick.guide), " · ", link(to("/api"), t.nav.pages.reference)),
  );
}

/**
 * Asks for the keys that the commands need. The API shows keys only once, so the console does not
 * have them.
 */
function ownKeys({ projectId, to, show }) {
  return h(
    "details",
    { class: "own-keys" },
    h("summary", {}, d.quick.ownKeys),
    h("p", { class: "muted" }, d.quick.noKeys, " ", link(to("/keys"), t.nav.pages.keys)),
    form({
      fields: [
        { name: "client", label: k.kinds.client, placeholder: "pck_…" },
        { name: "server", label: k.kinds.server, input: "password", placeholder: "ssk_…" },
      ],
      verb: d.quick.useKeys,
      send: async (keys) => given.set(projectId, keys),
      done: show,
    }),
  );
}
