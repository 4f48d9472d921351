// The API keys of a user or of a team.

import { confirm, showOnce } from "../components/dialog.js";
import { form, posts } from "../components/form.js";
import { list } from "../components/list.js";
import { button, empty, heading, link, shown, state, tag, time } from "../components/parts.js";
import { path } from "../core/api.js";
import { h } from "../core/dom.js";
import { keys as k, ownedKeys as o } from "../texts-keys.js";
import { texts as t } from "../texts.js";

const DAY = 86_400_000;

function stateOf(key) {
  if (key.manually_revoked_at_millis) return ["aside", k.revoked];
  if (key.expires_at_millis && key.expires_at_millis < Date.now()) return ["aside", k.expired];
  return ["done", k.valid];
}

/**
 * The keys at the path `place`; `owner` is the request field that names the keys' owner, and
 * `setting` the project setting that allows such keys.
 */
async function keys({ api, to, refresh }, place, owner, setting) {
  const { config } = await api.get("/internal/projects/current");
  if (!config[setting])
    return empty({ ...o.off, action: link(to("/settings/api-keys"), o.allow, { class: "button" }) });
  const revoke = async (key) => {
    const act = () => api.call("PATCH", `${place}${path`/${key.id}`}`, { query: owner, body: { revoked: true } });
    if (await confirm({ title: k.revoke, text: o.revokeText, name: key.description, act })) await refresh();
  };
  const body = ({ days, scopes, ...given }) => ({
    ...given,
    ...owner,
    ...(days && { expires_at_millis: Date.now() + days * DAY }),
    ...(scopes?.length && { scopes }),
  });
  return h(
    "div",
    {},
    list({
      api,
      path: place,
      query: owner,
      isPaged: false,
      label: o.title,
      columns: [
        {
          label: t.description,
          class: "wide",
          cell: (key) => [
            shown(key.description, { max: 80 }),
            key.scopes.length > 0 && h("small", {}, shown(key.scopes.join(", "), { max: 160 })),
          ],
        },
        {
          label: o.key,
          class: "fit",
          cell: (key) => ["…", h("code", {}, key.value.last_four), key.is_public && [" ", tag(o.public)]],
        },
        { label: t.state, class: "fit", cell: (key) => state(...stateOf(key)) },
        { label: t.lastUsed, class: "fit", cell: (key) => time(key.last_used_at_millis) },
        { label: t.expires, class: "fit", cell: (key) => time(key.expires_at_millis) },
        {
          label: "",
          class: "end actions",
          cell: (key) =>
            stateOf(key)[0] === "done" &&
            button(k.revoke, () => revoke(key), { class: "danger small-button", "aria-label": `${k.revoke} ${key.description}` }),
        },
      ],
      none: o.none,
    }),
    heading(o.create),
    form({
      fields: [
        { name: "description", label: t.description, required: true },
        { name: "scopes", label: o.scopes, type: "lines", help: o.scopesHelp },
        { name: "days", label: k.days, type: "number", min: 1, help: k.daysHelp },
      ],
      verb: o.create,
      ...posts(api, place, body),
      done: async (key) => {
        await showOnce(o.created, k.createdText, [[o.key, key.value]]);
        await refresh();
      },
    }),
  );
}

export const part = (context) => keys(context, "/user-api-keys", { user_id: context.user.id }, "allow_user_api_keys");
export const teamPart = (context) => keys(context, "/team-api-keys", { team_id: context.team.id }, "allow_team_api_keys");
