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
  return h(
    "div",
    {},
    heading(t.user.restrict),
    h("p", { class: "muted" }, t.user.restrictText),
    form({
      fields: [
        { name: "restricted_by_admin", label: t.user.isRestricted, type: "switch" },
        { name: "restricted_by_admin_reason", label: t.user.reason, nullable: true, help: t.user.reasonHelp },
        {
          name: "restricted_by_admin_private_details",
          label: t.user.privateDetails,
          type: "long",
          isProse: true,
          nullable: true,
          help: t.user.privateDetailsHelp,
        },
      ],
      values: user,
      verb: t.save,
      reread: () => api.get(place),
      send: (body) => api.patch(place, body),
      request: (body) => api.request("PATCH", place, { body }),
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
