// The events of a user's account, from the audit log.

import { h } from "../core/dom.js";
import { entries } from "./audit-log.js";

export async function part(context) {
  return h("div", {}, await entries(context, { user_id: context.user.id }));
}
