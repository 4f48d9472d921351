// By default, each test file uses a separate gateway with its data in memory, so that files share
// neither data nor limits. If DEPLOYMENT is the URL of a deployment (see tests/deploy), each file
// uses a separate project there instead.

import { execFileSync, spawn } from "node:child_process";
import { createInterface } from "node:readline";

const LABELS = {
  "Start page": "startPage",
  "Project": "projectId",
  "Client key": "publishableClientKey",
  "Server key": "secretServerKey",
  "Admin key": "superSecretAdminKey",
  "Internal client": "internalClientKey",
  "Internal server": "internalServerKey",
  "Internal admin": "internalAdminKey",
  "DynamoDB": "table",
};

/**
 * Starts a gateway; `settings` are environment variables, and `options` command-line options. Data
 * is in memory unless the options name a folder (`--data`).
 */
export async function startGateway(settings = {}, options = []) {
  const binary = process.env.GATEWAY;
  if (!binary) throw new Error("GATEWAY is not set: start these tests with the script `run` of their folder");
  if (process.env.DEPLOYMENT) return newProject(binary, settings);
  const place = options.includes("--data") ? [] : ["--memory"];
  const child = spawn(binary, ["serve", ...place, "--listen", "127.0.0.1:0", ...options], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...settings },
  });
  const kill = () => child.kill();
  process.once("exit", kill);
  const exited = new Promise((resolve) => child.once("exit", (code, signal) => resolve({ code, signal })));
  let log = "";
  child.stderr.on("data", (text) => { log += text; });
  const printed = await readStart(child, options.includes("--dynamodb-port") ? "table" : "internalAdminKey", () => log);
  const pageKey = new URL(printed.startPage).searchParams.get("key");
  return { ...printed, pageKey, mails: `${printed.url}/inbox/api/messages`, stop: () => stop(child, exited, () => log) };
}

/** Enables sign-up in the project `internal`, as its administrator. */
export function openInternal({ url, internalAdminKey }) {
  return configure({ url, projectId: "internal", superSecretAdminKey: internalAdminKey }, { sign_up_enabled: true });
}

/** Changes a project's settings, as its administrator. */
export async function configure(gateway, config) {
  await asAdmin(gateway, "PATCH", "/internal/projects/current", { config });
}

/** Calls an operation as the project's administrator; returns the response body. */
export async function asAdmin({ url, projectId, superSecretAdminKey }, method, path, body) {
  const answer = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: {
      "content-type": "application/json",
      "x-stack-access-type": "admin",
      "x-stack-project-id": projectId,
      "x-stack-super-secret-admin-key": superSecretAdminKey,
    },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

/** Sends a request as a client of the project, with additional headers. */
export function asClient({ url, projectId, publishableClientKey }, method, path, body, headers = {}) {
  return fetch(`${url}/api/v1${path}`, {
    method,
    headers: {
      "content-type": "application/json",
      "x-stack-access-type": "client",
      "x-stack-project-id": projectId,
      "x-stack-publishable-client-key": publishableClientKey,
      ...headers,
    },
    body: JSON.stringify(body),
  });
}

/** Creates a project in the deployment, whose own settings cannot be changed. */
function newProject(binary, settings) {
  if (Object.keys(settings).length) throw new Error("a test with its own settings needs its own gateway: unset DEPLOYMENT");
  const { DEPLOYMENT: url, DEPLOYMENT_TABLE: table, DEPLOYMENT_MAILS: mails } = process.env;
  const run = (...command) => execFileSync(binary, [...command, "--table", table], { encoding: "utf8" });
  const keys = Object.fromEntries(run("project", "create", "Development").trim().split("\n").map((line) => line.split("=")));
  run("project", "set", keys.GATELET_PROJECT_ID, "config.allow_localhost=true", "config.magic_link_enabled=true");
  return {
    url,
    mails,
    projectId: keys.GATELET_PROJECT_ID,
    publishableClientKey: keys.GATELET_PUBLISHABLE_CLIENT_KEY,
    secretServerKey: keys.GATELET_SECRET_SERVER_KEY,
    superSecretAdminKey: keys.GATELET_SUPER_SECRET_ADMIN_KEY,
    stop: () => {},
  };
}

/**
 * Reads a gateway's first lines: the URL, then labels with values, up to the label `last`.
 */
function readStart(child, last, log) {
  const found = {};
  return new Promise((resolve, reject) => {
    const lines = createInterface({ input: child.stdout });
    lines.on("line", (line) => {
      const url = line.match(/^Gatelet answers at (\S+)$/);
      const [, label, value] = line.match(/^ {2}(\S+(?: \S+)?) {2,}(\S+)$/) ?? [];
      if (url) found.url = url[1];
      if (LABELS[label]) found[LABELS[label]] = value;
      if (found[last]) resolve(found);
    });
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`the gateway ended at its start with ${code}: ${log()}`)));
  });
}

/** Stops the gateway; a failed exit or a logged internal error fails the test. */
async function stop(child, exited, log) {
  child.kill("SIGTERM");
  const { code, signal } = await exited;
  if (code !== 0) throw new Error(`the gateway ended with ${code ?? signal}: ${log()}`);
  if (/\b(ERROR|panicked)\b/.test(log())) throw new Error(`the gateway logged an error: ${log()}`);
}
