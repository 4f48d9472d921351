// The pages of the console. Views are loaded when they are first shown. Without a project's keys
// and without a session, only public pages are shown.

export const routes = [
  { path: "", name: "home", load: () => import("./views/home.js") },
  // Deployments redirect `/console` to this page.
  { path: "/home", name: "home", load: () => import("./views/home.js") },
  { path: "/sign-in", name: "sign-in", isPublic: true, load: () => import("./views/sign-in.js") },
  { path: "/forgot-password", name: "forgot", isPublic: true, load: () => import("./views/forgot-password.js") },
  // Links in emails and tools lead to these paths, below the path of a trusted domain. The SDK uses
  // the same paths.
  { path: "/password-reset", name: "reset", isPublic: true, load: () => import("./views/password-reset.js") },
  { path: "/account", name: "account", load: () => import("./views/account.js") },
  { path: "/cli-auth-confirm", name: "confirm", load: () => import("./views/confirm-tool.js") },
  { path: "/projects", name: "projects", load: () => import("./views/projects.js") },
  { path: "/:project", name: "overview", load: () => import("./views/overview.js") },
  { path: "/:project/quick-start", name: "quickstart", load: () => import("./views/quick-start.js") },
  { path: "/:project/users", name: "users", load: () => import("./views/users.js") },
  { path: "/:project/users/:user", name: "users", load: () => import("./views/user.js") },
  { path: "/:project/teams", name: "teams", load: () => import("./views/teams.js") },
  { path: "/:project/teams/:team", name: "teams", load: () => import("./views/team.js") },
  { path: "/:project/permissions", name: "permissions", load: () => import("./views/permissions.js") },
  { path: "/:project/providers", name: "providers", load: () => import("./views/providers.js") },
  { path: "/:project/oauth-clients", name: "clients", load: () => import("./views/clients.js") },
  { path: "/:project/oauth-clients/:client", name: "clients", load: () => import("./views/client.js") },
  { path: "/:project/sign-up-rules", name: "rules", load: () => import("./views/rules.js") },
  { path: "/:project/outbox", name: "outbox", load: () => import("./views/outbox.js") },
  { path: "/:project/outbox/:email", name: "outbox", load: () => import("./views/outbox-email.js") },
  { path: "/:project/templates", name: "templates", load: () => import("./views/templates.js") },
  { path: "/:project/templates/:item", name: "templates", load: () => import("./views/email-source.js") },
  { path: "/:project/themes", name: "themes", load: () => import("./views/templates.js") },
  { path: "/:project/themes/:item", name: "themes", load: () => import("./views/email-source.js") },
  { path: "/:project/drafts", name: "drafts", load: () => import("./views/templates.js") },
  { path: "/:project/drafts/:item", name: "drafts", load: () => import("./views/email-source.js") },
  { path: "/:project/keys", name: "keys", load: () => import("./views/keys.js") },
  { path: "/:project/webhooks", name: "webhooks", load: () => import("./views/webhooks.js") },
  { path: "/:project/webhooks/:webhook", name: "webhooks", load: () => import("./views/webhook.js") },
  { path: "/:project/api", name: "reference", load: () => import("./views/reference.js") },
  { path: "/:project/api/:operation", name: "reference", load: () => import("./views/operation.js") },
  { path: "/:project/content", name: "content", load: () => import("./views/content.js") },
  { path: "/:project/audit-log", name: "audit", load: () => import("./views/audit-log.js") },
  { path: "/:project/settings", name: "settings", load: () => import("./views/settings.js") },
  { path: "/:project/settings/:area", name: "settings", load: () => import("./views/settings.js") },
];
