// The content that the service publishes: the site, its apps and posts, and its documents.

import { table } from "../components/list.js";
import { code, curlButton, empty, facts, head, heading, link, shown, time } from "../components/parts.js";
import { h } from "../core/dom.js";
import { title } from "../core/format.js";
import { texts as t } from "../texts.js";
import { developers as d } from "../texts-developers.js";

/** A link to a web page; any other URL is shown as text, as publishers may write anything. */
function linkTo(href, text = href) {
  return /^https?:\/\//.test(href) ? link(href, shown(text, { max: 120 })) : shown(text, { max: 120 });
}

export async function view({ api }) {
  const [site, apps, posts] = await Promise.all(["/site", "/apps", "/blog-posts"].map(async (path) => (await api.get(path)).data));
  const postColumns = [
    {
      label: d.content.post,
      class: "wide",
      cell: (post) => [linkTo(post.url, post.title), h("small", { class: "muted" }, shown(post.excerpt, { max: 160 }))],
    },
    { label: d.content.published, class: "fit end", cell: (post) => time(post.publishedAt) },
  ];
  const appColumns = [
    { label: d.content.app, class: "wide", cell: (app) => [linkTo(app.url, app.displayName), h("small", {}, shown(app.subtitle))] },
    { label: t.id, class: "fit end", cell: (app) => h("code", {}, app.id) },
  ];
  return h(
    "div",
    {},
    head(d.content.title, { lead: d.content.lead, actions: [curlButton(() => api.request("GET", "/site"))] }),
    facts(
      [d.content.site, shown(site.name)],
      [t.description, shown(site.description)],
      [d.content.url, linkTo(site.url)],
      [d.content.newest, posts.length ? time(posts[0].publishedAt, { isLong: true }) : t.none],
    ),
    heading(d.content.posts(posts.length)),
    posts.length ? table({ rows: posts, columns: postColumns, label: d.content.post }) : empty({ ...d.content.noPosts, action: howTo() }),
    heading(d.content.apps(apps.length)),
    apps.length ? table({ rows: apps, columns: appColumns, label: d.content.app }) : empty({ ...d.content.noApps, action: howTo() }),
    heading(d.content.documents),
    facts(...Object.entries(site.resources).map(([name, url]) => [nameOf(name), linkTo(url)])),
    heading(d.content.publish),
    h("p", {}, d.content.publishText, " ", link("/docs/gateway", d.content.guide)),
    howTo(),
  );
}

/** The name of a document; without a text, the words of its key. */
const nameOf = (key) => d.content.resources[key] ?? title(key.replace(/([a-z])([A-Z])/g, "$1 $2"));
const howTo = () => code("gateway content publish DIR");
