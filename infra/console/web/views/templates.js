// The templates, themes and drafts of a project's emails.

import { list } from "../components/list.js";
import { head, shown, time } from "../components/parts.js";
import { h } from "../core/dom.js";
import { texts as t } from "../texts.js";
import { mails as m } from "../texts-emails.js";

/** For each kind of source: the path of its operations, and the field with the items of a list. */
export const KINDS = {
  templates: { path: "/internal/email-templates", items: "templates" },
  themes: { path: "/internal/email-themes", items: "themes" },
  drafts: { path: "/internal/email-drafts", items: "drafts" },
};

/** The kind of source that a page shows, from its URL. */
export function kindOf(pathname) {
  return Object.keys(KINDS).find((kind) => pathname.split("/")[3] === kind);
}

export async function view({ api, to }) {
  const kind = kindOf(location.pathname);
  const { path, items } = KINDS[kind];
  const words = m.emails[kind];
  const create = (style) => h("a", { class: style, href: to(`/${kind}/new`) }, words.create);
  return h(
    "div",
    {},
    head(words.title, { lead: words.lead, actions: [create("button main")] }),
    list({
      api,
      path,
      items,
      label: words.title,
      href: (item) => to(`/${kind}/${item.id}`),
      columns: [
        { label: t.name, class: "wide", cell: (item) => shown(item.display_name, { max: 100 }) },
        { label: t.id, class: "fit", cell: (item) => h("code", {}, item.id.slice(0, 8)) },
        kind === "drafts" && { label: m.emails.sentAt, class: "fit end", cell: (item) => time(item.sent_at_millis) },
      ].filter(Boolean),
      none: { ...words.none, action: create("button") },
    }),
  );
}
