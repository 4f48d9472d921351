// The RSA keys of a project, in the settings of its sessions.

import { confirm } from "../components/dialog.js";
import { table } from "../components/list.js";
import { button, empty, heading, id, state, time } from "../components/parts.js";
import { h } from "../core/dom.js";
import { settings } from "../texts-settings.js";

const PATH = "/internal/signing-keys";
const words = settings.signingKeys;

function stateOf(key) {
  if (key.is_signing) return ["done", words.signing];
  if (key.signs_from_millis > Date.now()) return ["waiting", words.next];
  return ["aside", key.retires_at_millis ? words.previous : words.unused];
}

export async function signingKeys({ api, refresh }) {
  const { keys } = await api.get(PATH);
  const create = async () => {
    const act = () => api.post(PATH, {});
    if (await confirm({ title: words.create, text: keys.length ? words.rotateText : words.createText, act })) await refresh();
  };
  const revoke = async () => {
    const act = () => api.post(PATH, { revoke_previous: true });
    if (await confirm({ title: words.revoke, text: words.revokeText, act })) await refresh();
  };
  const columns = [
    { label: words.key, cell: (key) => id(key.id) },
    { label: words.state, class: "fit", cell: (key) => state(...stateOf(key)) },
    { label: words.signsFrom, class: "fit", cell: (key) => time(key.signs_from_millis) },
    { label: words.retires, class: "fit", cell: (key) => time(key.retires_at_millis) },
  ];
  return h(
    "section",
    {},
    heading(words.title),
    h("p", { class: "muted" }, words.lead),
    keys.length ? table({ columns, rows: keys, label: words.title }) : empty(words.none),
    h(
      "div",
      { class: "buttons" },
      button(words.create, create),
      keys.length > 0 && button(words.revoke, revoke, { class: "danger" }),
    ),
  );
}
