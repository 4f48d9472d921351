// Forms with the settings of a resource, and with its scopes.

import { form, saves } from "../components/form.js";
import { clients } from "../texts-oauth-clients.js";
import { resources as words } from "../texts-oauth-resources.js";
import { algorithm } from "./client-common.js";
import { fields } from "./resource-common.js";

/** A form with some of a resource's fields. */
const settingsOf = ({ resource, stored, show }, ...its) => form({ fields: its, values: resource, ...saves(stored), done: show });

export const scopes = (context) => settingsOf(context, fields.scopes);

export const settings = async (context) =>
  settingsOf(context, fields.name, await algorithm(context, words.algorithmHelp), {
    name: "access_token_seconds",
    label: clients.accessSeconds,
    type: "number",
    isDuration: true,
    min: 60,
    max: 86_400,
    help: words.accessSecondsHelp,
  });
