// The frame of a project's pages: the list of pages and, in the bar, the menu of projects and the
// links to sign in, sign out and open the account.

import { h } from "../core/dom.js";
import { clipped, visible } from "../core/format.js";
import { url } from "../core/router.js";
import { texts as t } from "../texts.js";
import { link } from "./parts.js";

const GROUPS = [
  [null, ["overview", "/"], ["quickstart", "/quick-start"]],
  ["people", ["users", "/users"], ["teams", "/teams"], ["permissions", "/permissions"]],
  ["signIn", ["providers", "/providers"], ["rules", "/sign-up-rules"], ["clients", "/oauth-clients"], ["resources", "/oauth-resources"]],
  ["emails", ["outbox", "/outbox"], ["templates", "/templates"], ["themes", "/themes"], ["drafts", "/drafts"]],
  ["developers", ["keys", "/keys"], ["webhooks", "/webhooks"], ["reference", "/api"], ["content", "/content"]],
  ["project", ["audit", "/audit-log"], ["settings", "/settings"]],
];

/** The pages of a project. */
export function sidebar({ to }, current) {
  const nav = h(
    "nav",
    { "aria-label": t.nav.label },
    GROUPS.map(([group, ...pages]) => [
      group && h("h2", {}, t.nav.groups[group]),
      h(
        "ul",
        {},
        pages.map(([name, path]) =>
          h("li", {}, link(to(path === "/" ? "" : path), t.nav.pages[name], { "aria-current": name === current && "page" })),
        ),
      ),
    ]),
  );
  // The list scrolls in low windows, so it must be able to receive the focus.
  return h("aside", { class: "side", tabindex: "0" }, h("details", {}, h("summary", { class: "button" }, h("span", {}, h("span", { class: "label" }, t.nav.pagesOf), t.nav.pages[current] ?? t.nav.menu)), nav));
}

export function projectSwitch({ projects, router, projectId }) {
  if (!projects.size) return null;
  const options = [...projects.values()].map((project) =>
    h("option", { value: project.id, selected: project.id === projectId }, clipped(visible(project.display_name), 40)),
  );
  const select = h(
    "select",
    { id: "project", onchange: (event) => router.go(event.target.value ? url(`/${event.target.value}`) : url("/projects")) },
    !projectId && h("option", { value: "", selected: true }, t.nav.chooseProject),
    options,
    projectId && h("option", { value: "" }, t.nav.allProjects),
  );
  return [h("label", { class: "label", for: "project" }, t.nav.project), select];
}

/** The link to the user's account, and the button to sign out; or the link to sign in. */
export function account({ session, projects, router, refresh }) {
  const signOut = async () => {
    await session.signOut().catch(() => {});
    projects.clear();
    await (session.isOpen ? refresh() : router.go(url("/sign-in")));
  };
  return session.email
    ? [
        h("a", { class: "quiet-link", href: url("/account"), title: session.email }, t.nav.account),
        h("button", { type: "button", class: "quiet", onclick: signOut }, t.nav.signOut),
      ]
    : session.local && h("a", { class: "quiet-link", href: url("/sign-in") }, t.nav.signIn);
}
