// Restricts or deletes a user.

import { deletion } from "../components/dialog.js";
import { form } from "../components/form.js";
import { heading } from "../components/parts.js";
import { h } from "../core/dom.js";
import { texts as t } from "../texts.js";

export function part({ api, user, place, router, to, refresh }) {
  const resource = api.resource(place);
  const isRestricted = ({ restricted_by_admin: is }) => is;
  // The API accepts a reason and details only together with the restriction.
  const whole = (body, found) => (isRestricted(found) ? { ...body, restricted_by_admin: true } : body);
  return h(
    "div",
    {},
    heading(t.user.restrict),
    h("p", { class: "muted" }, t.user.restrictText),
    form({
      fields: [
        { name: "restricted_by_admin", label: t.user.isRestricted, type: "switch" },
        { name: "restricted_by_admin_reason", label: t.user.reason, nullable: true, help: t.user.reasonHelp, when: isRestricted },
        {
          name: "restricted_by_admin_private_details",
          label: t.user.privateDetails,
          type: "long",
          isProse: true,
          nullable: true,
          help: t.user.privateDetailsHelp,
          when: isRestricted,
        },
      ],
      values: user,
      verb: t.save,
      reread: () => resource.read(),
      send: (body, found) => resource.change(whole(body, found)),
      request: (body, found) => api.request("PATCH", place, { body: whole(body, found ?? {}) }),
      done: refresh,
    }),
    deletion({
      title: t.user.delete,
      text: t.user.deleteText,
      name: user.primary_email ?? user.display_name ?? user.id,
      act: () => api.delete(place),
      done: () => router.go(to("/users")),
    }),
  );
}
