// Creates an OAuth client, and shows its secret once.

import { showOnce } from "../components/dialog.js";
import { form, posts } from "../components/form.js";
import { head } from "../components/parts.js";
import { h } from "../core/dom.js";
import { clients as words } from "../texts-oauth-clients.js";
import { texts as t } from "../texts.js";
import { fields, guide, metadataOf, PATH, sent } from "./client-common.js";

export async function creation({ api, projectId, router, to }) {
  // The metadata is read first, because a failure after the creation would lose the secret.
  const { issuer, discovery } = await metadataOf(api, projectId);
  return h(
    "div",
    { class: "narrow" },
    head(words.create),
    form({
      fields: [
        fields.name,
        fields.owner,
        {
          name: "client_type",
          label: words.type,
          type: "radio",
          initial: "confidential",
          options: words.typeOptions,
          help: words.typeHelp,
        },
        fields.redirects,
      ],
      verb: words.create,
      cancel: () => router.go(to("/oauth-clients")),
      ...posts(api, PATH, sent),
      done: async (client) => {
        await showOnce(
          words.created,
          words.createdText[client.client_type],
          [
            [words.issuer, issuer],
            [words.id, client.id],
            [words.secret, client.client_secret],
            [words.discovery, discovery],
          ],
          { more: h("p", {}, guide({ isApart: true })), verb: client.client_secret ? t.keptIt : words.goOn },
        );
        await router.go(to(`/oauth-clients/${client.id}`));
      },
    }),
  );
}
