// The first requests, with the project's own values.

import { code, facts, head, heading, id, link, secret } from "../components/parts.js";
import { h } from "../core/dom.js";
import { texts as t } from "../texts.js";

const SDK = "@stackframe/js@2.8.108";
const CALLBACK = "/handler/email-verification";

/** The snippets for a project; `keys` are its own, or placeholders for them. */
export function snippets({ origin, projectId, clientKey, serverKey, number }) {
  const client = `  -H 'X-Service-Access-Type: client' \\\n  -H 'X-Service-Project-Id: ${projectId}' \\\n  -H 'X-Service-Publishable-Client-Key: ${clientKey}'`;
  const server = `  -H 'X-Service-Access-Type: server' \\\n  -H 'X-Service-Project-Id: ${projectId}' \\\n  -H 'X-Service-Secret-Server-Key: ${serverKey}'`;
  const app = (kind, store) => `import { ${kind} } from "@stackframe/js";

const app = new ${kind}({
  baseUrl: "${origin}",
  projectId: "${projectId}",
  publishableClientKey: "${clientKey}",
  ${store}
});`;
  return {
    signUp: `curl ${origin}/api/v1/auth/password/sign-up \\\n${client} \\\n  --json '{"email": "ada.${number}@example.com", "password": "correct horse battery",\n    "verification_callback_url": "${origin}${CALLBACK}"}'`,
    sdk: `${app("StackClientApp", 'tokenStore: "memory", // "cookie" in a browser')}

await app.signUpWithCredential({
  email: \`ada.\${Date.now()}@example.com\`,
  password: "correct horse battery",
  verificationCallbackUrl: "${origin}${CALLBACK}",
  noRedirect: true,
});
const user = await app.getUser();
console.log(user.id, user.primaryEmail, user.primaryEmailVerified);`,
    server: `${app("StackServerApp", `secretServerKey: "${serverKey}",\n  tokenStore: "memory",`)}

for (const user of await app.listUsers({ orderBy: "signedUpAt", desc: true, limit: 20 })) console.log(user.id, user.primaryEmail);`,
    users: `curl '${origin}/api/v1/users?limit=20&desc=true' \\\n${server}`,
    react: `# .env.local
NEXT_PUBLIC_STACK_API_URL=${origin}
NEXT_PUBLIC_STACK_PROJECT_ID=${projectId}
NEXT_PUBLIC_STACK_PUBLISHABLE_CLIENT_KEY=${clientKey}
STACK_SECRET_SERVER_KEY=${serverKey}`,
  };
}

/** A block whose secret is masked on the page and whole in the clipboard. */
function masked(text, key) {
  const block = code(text.replaceAll(key, `${key.slice(0, 4)}••••••••`));
  block.querySelector("button").dataset.copy = text;
  return block;
}

export async function view({ session, projectId, to }) {
  const local = session.local?.project_id === projectId ? session.local : null;
  const clientKey = local?.publishable_client_key ?? "pck_…";
  const serverKey = local?.secret_server_key ?? "ssk_…";
  const made = snippets({
    origin: location.origin,
    projectId,
    clientKey,
    serverKey,
    number: crypto.getRandomValues(new Uint16Array(1))[0],
  });
  return h(
    "div",
    {},
    head(t.quick.title, { lead: t.quick.lead(location.origin) }),
    facts(
      [t.keys.project, id(projectId)],
      local && [t.keys.kinds.client, id(local.publishable_client_key), h("small", { class: "muted" }, t.keys.clientHelp)],
      local && [t.keys.kinds.server, secret(local.secret_server_key), h("small", { class: "muted" }, t.keys.serverHelp)],
    ),
    !local && h("p", {}, t.quick.noKeys, " ", link(to("/keys"), t.nav.pages.keys)),
    heading(t.quick.request),
    h("p", {}, t.quick.requestText),
    code(made.signUp),
    h("p", {}, t.quick.inbox, " ", link("/inbox", t.quick.inboxLink)),
    heading(t.quick.javascript),
    h("p", {}, t.quick.install),
    code(`npm install ${SDK}`),
    h("p", {}, t.quick.save, " ", h("code", {}, "node first.mjs"), "."),
    code(made.sdk),
    heading(t.quick.next),
    h(
      "p",
      {},
      t.quick.nextText,
      " ",
      link("/docs/guides/nextjs", t.quick.nextGuide),
      " · ",
      link("/docs/guides/react", t.quick.reactGuide),
    ),
    masked(made.react, serverKey),
    heading(t.quick.server),
    h("p", {}, t.quick.serverText),
    masked(made.users, serverKey),
    masked(made.server, serverKey),
    h("p", {}, t.quick.more, " ", link("/docs/guides", t.quick.guides), " · ", link(to("/api"), t.nav.pages.reference)),
  );
}
