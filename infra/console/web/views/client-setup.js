// The values to enter in the app of an OAuth client: issuer, id, secret and endpoints.

import { open, showOnce } from "../components/dialog.js";
import { form } from "../components/form.js";
import { button, copyable, curlButton, facts, fold, time } from "../components/parts.js";
import { h } from "../core/dom.js";
import { clients as words } from "../texts-oauth-clients.js";
import { texts as t } from "../texts.js";
import { guide, metadataOf, missing, ownerOf } from "./client-common.js";

/** How long a replaced secret works by default, in milliseconds. */
const DAY = "86400000";

export async function part(context) {
  const { api, projectId, client, place } = context;
  const metadata = await metadataOf(api, projectId);
  const endpoints = Object.entries(words.endpointNames).filter(([name]) => metadata[name]);
  const isConfidential = client.client_type === "confidential";
  return h(
    "div",
    {},
    missing(context),
    h("p", {}, words.setupText, " ", guide()),
    facts(
      [words.issuer, copyable(metadata.issuer)],
      [words.discovery, copyable(metadata.discovery)],
      [words.id, copyable(client.id)],
      [words.secret, isConfidential ? client.secrets.map(secret) : words.noSecret],
      [words.kind, `${words.owners[ownerOf(client)]}, ${words.types[client.client_type].toLowerCase()}`],
      [t.created, time(client.created_at_millis, { isLong: true })],
    ),
    h(
      "div",
      { class: "buttons" },
      isConfidential && button(words.rotate, () => rotate(context)),
      curlButton(() => api.request("GET", place)),
    ),
    fold(words.endpoints, facts(...endpoints.map(([name, label]) => [label, copyable(metadata[name])]))),
  );
}

/** A secret without its text; a replaced one with its end. */
function secret({ last_four: lastFour, expires_at_millis: end }) {
  const until = end === null ? null : [" ", words.secretEnds, " ", time(end, { isLong: true })];
  return h("div", {}, h("code", {}, `••••${lastFour}`), until);
}

/** Replaces the secret after asking how long the old one works, and shows the new one. */
async function rotate({ api, client, place, refresh }) {
  const path = `${place}/rotate-secret`;
  const field = { name: "overlap", label: words.overlap, type: "radio", initial: DAY, options: words.overlaps, help: words.overlapHelp };
  const body = ({ overlap }) => ({ expire_previous_in_millis: Number(overlap) });
  const earlier = client.secrets.find(({ expires_at_millis: end }) => end !== null);
  const created = await open(words.rotate, (close) => [
    form({
      fields: [field],
      extra: earlier && h("p", {}, words.earlier(earlier.last_four)),
      verb: words.rotate,
      cancel: () => close(),
      send: (given) => api.post(path, body(given)),
      request: (given) => api.request("POST", path, { body: body(given) }),
      done: (answer) => close(answer.client_secret),
    }),
  ]);
  if (!created) return;
  await showOnce(words.rotated, words.rotatedText, [
    [words.id, client.id],
    [words.secret, created],
  ]);
  await refresh();
}
