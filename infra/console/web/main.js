// The console: opens the session, then shows the view of the current URL.

import { mayLeave } from "./components/dialog.js";
import { hasUnsaved } from "./components/form.js";
import { failure, link } from "./components/parts.js";
import { account, projectSwitch, sidebar } from "./components/shell.js";
import { fill, h } from "./core/dom.js";
import { resolve, Router, url } from "./core/router.js";
import { Session, takeResetCode, takeToken } from "./core/session.js";
import { routes } from "./routes.js";
import { texts as t } from "./texts.js";

// Runs before the first `await`, so that the token is kept even if the user leaves immediately.
takeToken(location, history, storage("localStorage"));
// A password reset: the code, and whether the new password has been set. The code is kept only in
// memory.
const reset = { code: takeResetCode(location, history), isDone: false };
// The page starts with a policy that sends no referrer, because the URL may contain a code. The
// code has now been removed, and the preview form needs a referrer: without one, its origin would
// be `null`.
document.head.append(h("meta", { name: "referrer", content: "same-origin" }));

const place = document.querySelector("#console");
const who = h("div", { class: "account" });
document.querySelector(".bar > div").append(who);
// Imports `page.js` from the URL that the frame has loaded, so that the script runs only once.
const { showTimes } = await import(document.querySelector('script[src*="/page.js"]').src);

const session = new Session({ localStorage: storage("localStorage"), sessionStorage: storage("sessionStorage") });
const projects = new Map();
let shows = 0;

const router = new Router(show, () => (hasUnsaved() ? mayLeave() : true));

function storage(name) {
  try {
    return globalThis[name];
  } catch {
    return undefined;
  }
}

/** Shows the view of the URL; drops a view that is replaced before it is complete. */
async function show() {
  shows += 1;
  const current = shows;
  const found = resolve(routes, location.pathname);
  const isPublic = Boolean(found?.route.isPublic);
  if (!session.isOpen && !isPublic) return router.go(url("/sign-in", { next: location.pathname + location.search }));
  if (!found) return draw(null, h("div", {}, h("h1", { tabindex: "-1" }, t.notFound.title), h("p", {}, t.notFound.text), h("p", {}, link(url("/projects"), t.notFound.back))));
  const { route, parameters } = found;
  const projectId = parameters.project;
  const context = {
    session,
    router,
    projects,
    reset,
    parameters,
    projectId,
    api: projectId && session.project(projectId),
    to: (path, query) => url(projectId ? `/${encodeURIComponent(projectId)}${path}` : path, query),
    query: new URLSearchParams(location.search),
    isCurrent: () => current === shows,
    refresh: show,
    forgetProjects: () => projects.clear(),
  };
  try {
    const [{ view }] = await Promise.all([route.load(), isPublic ? knowProjects().catch(() => {}) : knowProjects()]);
    const content = await view(context);
    if (context.isCurrent()) draw(context, content, route.name);
  } catch (error) {
    if (!context.isCurrent()) return undefined;
    const hasKey = Boolean(projectId) && session.local?.project_id === projectId;
    const isSignedOut = error.status === 401 && !session.email && !hasKey;
    if (isSignedOut) return router.go(url("/sign-in", { next: location.pathname + location.search }));
    const isMissing = error.status === 404;
    const title = isMissing ? t.notFound.nothing : t.failed.page;
    draw(context, h("div", {}, h("h1", { tabindex: "-1" }, title), failure(error, { again: isMissing ? null : show })), route.name);
  }
  return undefined;
}

/** Fetches the projects that the caller may open, unless known. */
async function knowProjects() {
  if (projects.size) return;
  const { local } = session;
  if (local) projects.set(local.project_id, await session.project(local.project_id).get("/internal/projects/current"));
  if (session.email) {
    const { items } = await session.internal.get("/internal/projects");
    for (const project of items) projects.set(project.id, project);
  }
}

function draw(context, content, name) {
  const isOfProject = Boolean(context?.projectId);
  const page = h("div", { class: isOfProject ? "page" : "narrow-page" }, content);
  fill(place, isOfProject ? h("div", { class: "sided" }, sidebar(context, name), page) : page);
  place.dataset.view = name ?? "";
  fill(document.querySelector("#switch"), projectSwitch({ projects, router, projectId: context?.projectId }));
  fill(who, account({ session, projects, router, refresh: show }));
  const heading = place.querySelector("h1");
  document.title = `${heading?.textContent ?? t.console} · Gatelet`;
  showTimes();
  if (shows > 1) heading?.focus({ preventScroll: true });
}

// Formats times that are added to the page later.
new MutationObserver(() => showTimes(place)).observe(place, { childList: true, subtree: true });
addEventListener("beforeunload", (event) => hasUnsaved() && event.preventDefault());

// Starts loading the view's module while the session is being opened.
resolve(routes, location.pathname)
  ?.route.load()
  .catch(() => {});
await session.open();
await show();
