// Settings of an OAuth client: whose app it is, what it may ask for, and who may sign in to it.

import { form } from "../components/form.js";
import { link } from "../components/parts.js";
import { teams } from "../components/team-picker.js";
import { h } from "../core/dom.js";
import { scopes as scopeNames } from "../texts-grants.js";
import { clients as words } from "../texts-oauth-clients.js";
import { texts as t } from "../texts.js";
import { fields, ownerOf, sent } from "./client-common.js";

const SCOPES = Object.keys(scopeNames);
const WHO = ["who", "allowed_team_ids", "allowed_permission_id"];

/** A client's settings as the fields of this form. */
function flat(client) {
  const { allowed_team_ids: ids, allowed_permission_id: permission } = client;
  return {
    owner: ownerOf(client),
    scopes: SCOPES.filter((scope) => client.scopes.includes(scope)),
    who: ids ? "teams" : permission ? "permission" : "everyone",
    allowed_team_ids: ids ?? [],
    allowed_permission_id: permission ?? "",
  };
}

/** The body that changes `changes` to the values in the form. */
export function bodyOf(changes, { who, allowed_team_ids: ids, allowed_permission_id: permission }) {
  const rest = Object.fromEntries(Object.entries(changes).filter(([name]) => !WHO.includes(name)));
  const hasWho = WHO.some((name) => Object.hasOwn(changes, name));
  const admitted = {
    everyone: { allowed_team_ids: null, allowed_permission_id: null },
    teams: { allowed_team_ids: ids },
    permission: { allowed_permission_id: permission },
  };
  return sent({ ...rest, ...(hasWho && admitted[who]) });
}

export async function part({ api, client, place, resource, show, to }) {
  const { items: defined } = await api.get("/project-permission-definitions");
  const current = client.allowed_permission_id;
  const ids = [...new Set([...defined.map(({ id }) => id), ...(current ? [current] : [])])];
  const define = [words.noPermission, " ", link(to("/permissions", { scope: "project", edit: "+" }), words.definePermission), "."];
  return form({
    fields: [
      client.source === "created" ? fields.owner : { ...fields.owner, help: words.ownerOfDescribed },
      {
        name: "scopes",
        label: words.scopes,
        type: "choices",
        options: SCOPES.map((scope) => [scope, [scopeNames[scope], " ", h("code", {}, scope)]]),
        help: words.scopesHelp,
      },
      { name: "who", label: words.who, type: "radio", options: words.whoOptions },
      { name: "allowed_team_ids", label: words.teams, type: teams(api), help: words.teamsHelp, when: ({ who }) => who === "teams" },
      {
        name: "allowed_permission_id",
        label: words.permission,
        type: "choice",
        options: [["", words.choosePermission], ...ids.map((id) => [id, id])],
        help: ids.length ? words.permissionHelp : define,
        when: ({ who }) => who === "permission",
      },
    ],
    values: flat(client),
    verb: t.save,
    reread: async () => flat(await resource.read()),
    send: (_, values, changes) => resource.change(bodyOf(changes, values)),
    request: (_, values, changes) => api.request("PATCH", place, { body: bodyOf(changes, values) }),
    done: show,
  });
}
