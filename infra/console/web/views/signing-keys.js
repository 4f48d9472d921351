// The RSA keys of a project, shown in its session settings. Loaded on demand.

import { confirm } from "../components/dialog.js";
import { button, empty, facts, heading, id, state, time } from "../components/parts.js";
import { h } from "../core/dom.js";
import { signingKeys as words } from "../texts-signing-keys.js";

const PATH = "/internal/signing-keys";

function stateOf(key) {
  if (key.is_signing) return ["done", words.signing];
  if (key.signs_from_millis > Date.now()) return ["waiting", words.next];
  return ["aside", key.retires_at_millis ? words.previous : words.unused];
}

function keyFacts(key) {
  return facts(
    [words.key, id(key.id)],
    [words.state, state(...stateOf(key))],
    [words.signsFrom, time(key.signs_from_millis)],
    [words.retires, time(key.retires_at_millis)],
  );
}

export async function section({ api, refresh }) {
  const { keys } = await api.get(PATH);
  const create = async () => {
    const act = () => api.post(PATH, {});
    if (await confirm({ title: words.create, text: keys.length ? words.rotateText : words.createText, act })) await refresh();
  };
  const revoke = async () => {
    const act = () => api.post(PATH, { revoke_previous: true });
    if (await confirm({ title: words.revoke, text: words.revokeText, act })) await refresh();
  };
  return h(
    "section",
    {},
    heading(words.title),
    h("p", { class: "muted" }, words.lead),
    keys.length ? keys.map(keyFacts) : empty(words.none),
    h(
      "div",
      { class: "buttons" },
      button(words.create, create),
      keys.length > 0 && button(words.revoke, revoke, { class: "danger" }),
    ),
  );
}
