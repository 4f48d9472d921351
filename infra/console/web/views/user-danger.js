// Restricting and deleting a user.

import { confirm } from "../components/dialog.js";
import { form } from "../components/form.js";
import { button, heading } from "../components/parts.js";
import { h } from "../core/dom.js";
import { texts as t } from "../texts.js";

export function part({ api, user, place, router, to, refresh }) {
  const name = user.primary_email ?? user.display_name ?? user.id;
  const remove = async () => {
    if (await confirm({ title: t.user.delete, text: t.user.deleteText, verb: t.user.delete, name, act: () => api.delete(place) }))
      await router.go(to("/users"));
  };
  const resource = api.resource(place);
  const isRestricted = ({ restricted_by_admin: is }) => is;
  // The API accepts reason and details only with the restriction.
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
    h(
      "section",
      { class: "danger-area" },
      heading(t.user.delete),
      h("p", {}, t.user.deleteText),
      button(t.user.delete, remove, { class: "danger" }),
    ),
  );
}
