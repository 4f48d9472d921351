// What the service publishes to everybody: the site, its apps and posts, and its documents.

import { table } from "../components/list.js";
import { code, curlButton, empty, facts, head, heading, link, shown, time } from "../components/parts.js";
import { h } from "../core/dom.js";
import { words } from "../core/format.js";
import { texts as t } from "../texts.js";

/** A link to a page on the web; other URLs are shown as text, as publishers may write anything. */
function linkTo(href, text = href) {
  return /^https?:\/\//.test(href) ? link(href, shown(text, { most: 120 })) : shown(text, { most: 120 });
}

export async function view({ api }) {
  const [site, apps, posts] = await Promise.all(["/site", "/apps", "/blog-posts"].map(async (path) => (await api.get(path)).data));
  const postColumns = [
    {
      label: t.content.post,
      class: "wide",
      cell: (post) => [linkTo(post.url, post.title), h("small", { class: "muted" }, shown(post.excerpt, { most: 160 }))],
    },
    { label: t.content.published, class: "fit end", cell: (post) => time(post.publishedAt) },
  ];
  const appColumns = [
    { label: t.content.app, class: "wide", cell: (app) => [linkTo(app.url, app.displayName), h("small", {}, shown(app.subtitle))] },
    { label: t.id, class: "fit end", cell: (app) => h("code", {}, app.id) },
  ];
  return h(
    "div",
    {},
    head(t.content.title, { lead: t.content.lead, actions: [curlButton(() => api.request("GET", "/site"))] }),
    facts(
      [t.content.site, shown(site.name)],
      [t.description, shown(site.description)],
      [t.content.url, linkTo(site.url)],
      [t.content.newest, posts.length ? time(posts[0].publishedAt, { isLong: true }) : t.none],
    ),
    heading(t.content.posts(posts.length)),
    posts.length ? table({ rows: posts, columns: postColumns, label: t.content.post }) : empty({ ...t.content.noPosts, action: howTo() }),
    heading(t.content.apps(apps.length)),
    apps.length ? table({ rows: apps, columns: appColumns, label: t.content.app }) : empty({ ...t.content.noApps, action: howTo() }),
    heading(t.content.documents),
    facts(...Object.entries(site.resources).map(([name, url]) => [words(name.replace(/([a-z])([A-Z])/g, "$1 $2")), linkTo(url)])),
    heading(t.content.publish),
    h("p", {}, t.content.publishText, " ", link("/docs/gateway", t.content.guide)),
    howTo(),
  );
}

const howTo = () => code("gateway content publish DIR");
