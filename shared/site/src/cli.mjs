#!/usr/bin/env node
// Shows the public content of a site: its apps, its blog posts and the site itself.

const SITE = "{site_url}";

const USAGE = `Usage: {name} COMMAND [--json] [--site URL]

Commands:
  list-apps          List the apps
  get-app ID         Show an app
  list-blog-posts    List the blog posts, newest first
  get-site           Show the site and the URLs of its documents

Options:
  --json       Print the response of the API as JSON
  --site URL   The site to read from; by default ${SITE}
`;

class WrongUse extends Error {}

/** The command, its arguments and the options of a command line. */
function parsed(words) {
  const call = { site: SITE, json: false, words: [] };
  for (let at = 0; at < words.length; at += 1) {
    if (words[at] === "--json") call.json = true;
    else if (words[at] === "--site") call.site = words[(at += 1)];
    else if (words[at].startsWith("-")) throw new WrongUse(`unknown option ${words[at]}`);
    else call.words.push(words[at]);
  }
  if (!URL.canParse(call.site ?? "") || !/^https?:$/.test(new URL(call.site).protocol)) throw new WrongUse("--site needs an http or https URL");
  return { ...call, site: call.site.replace(/\/+$/, "") };
}

/** The path that a command requests, below `/api/v1/`. */
function path([command, ...given]) {
  const paths = { "list-apps": "apps", "get-app": "apps/", "list-blog-posts": "blog-posts", "get-site": "site" };
  const path = Object.hasOwn(paths, command ?? "") ? paths[command] : undefined;
  if (path === undefined) throw new WrongUse(command === undefined ? "a command is missing" : `unknown command ${command}`);
  const wanted = path.endsWith("/") ? 1 : 0;
  if (given.length !== wanted) throw new WrongUse(wanted === 1 ? `${command} needs one id` : `${command} takes no arguments`);
  return path + given.map(encodeURIComponent).join("");
}

/** A text of the site as one line, without control characters that a terminal would obey. */
const line = (text) => String(text).replace(/[\p{Cc}\p{Cf}]+/gu, " ");

function shown(data) {
  const rows = Array.isArray(data) ? data : [data];
  const row = (one) => {
    const { resources, ...own } = one;
    const fields = Object.entries({ ...own, ...resources }).map(([field, value]) => `${field}: ${line(value)}`);
    return fields.join("\n");
  };
  return rows.length === 0 ? "Nothing is published." : rows.map(row).join("\n\n");
}

/** The answer of the API at a path; if it is a page of a list, with the items of the next pages. */
async function fetched(site, path) {
  const answer = await fetch(`${site}/api/v1/${path}`, { headers: { accept: "application/json" } });
  // A response that is not JSON comes from some other server, such as a proxy.
  const body = await answer.json().catch(() => undefined);
  if (body === undefined) throw new Error(`the response has the status ${answer.status} and is not JSON`);
  if (!answer.ok) throw new Error(`${line(body.error?.message ?? answer.status)} ${line(body.error?.hint ?? "")}`.trim());
  const next = /<[^>]*(\?[^>]*)>; rel="next"/.exec(answer.headers.get("link") ?? "");
  if (next === null || !body.data?.length) return body;
  const rest = await fetched(site, path.split("?")[0] + next[1]);
  return { ...body, data: [...body.data, ...rest.data] };
}

async function main(words) {
  if (words.includes("--help") || words.includes("-h")) return console.log(USAGE);
  const call = parsed(words);
  const body = await fetched(call.site, path(call.words));
  console.log(call.json ? JSON.stringify(body, null, 2) : shown(body.data));
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  const isUse = error instanceof WrongUse;
  console.error(isUse ? `${error.message}\n\n${USAGE}` : `error: ${line(error.cause?.message ?? error.message)}`);
  process.exitCode = isUse ? 2 : 1;
}
