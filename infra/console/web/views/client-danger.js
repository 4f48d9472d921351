// Switches an OAuth client off and on, or deletes it.

import { confirm, deletion } from "../components/dialog.js";
import { button, heading } from "../components/parts.js";
import { h } from "../core/dom.js";
import { clients as words } from "../texts-oauth-clients.js";

export function part({ api, client, place, resource, refresh, router, to }) {
  const isOff = client.is_disabled;
  const [title, text] = isOff ? [words.switchOn, words.switchOnText] : [words.switchOff, words.switchOffText];
  const whole = !isOff && client.is_first_party ? `${text} ${words.ownTokens}` : text;
  const change = async () => {
    if (await confirm({ title, text: whole, act: () => resource.replace(() => ({ is_disabled: !isOff })) })) await refresh();
  };
  const removal = () =>
    deletion({
      title: words.delete,
      text: words.deleteTexts[client.source],
      name: client.name,
      act: () => api.delete(place),
      done: () => router.go(to("/oauth-clients")),
    });
  return h(
    "div",
    {},
    h("section", {}, heading(title), h("p", {}, whole), button(title, change)),
    client.source === "document" ? h("section", {}, heading(words.delete), h("p", {}, words.comesBack)) : removal(),
  );
}
