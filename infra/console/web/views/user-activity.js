// What happened to a user's account, from the audit log.

import { h } from "../core/dom.js";
import { entries } from "./audit-log.js";

export function part(context) {
  return h("div", {}, entries(context, { user_id: context.user.id }));
}
