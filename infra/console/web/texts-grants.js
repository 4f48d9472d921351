// English texts about what apps may see, and about the apps that users have given access.

export const scopes = {
  openid: "Who the user is",
  profile: "Name and picture",
  email: "Email address",
  teams: "Teams",
  permissions: "Permissions",
  offline_access: "Staying signed in",
};

export const grants = {
  title: "Apps with access",
  lead: "Third-party apps to which this user has given access. Your own apps need no permission, so they are not listed.",
  app: "App",
  may: "May see and use",
  whole: "use in the user’s name",
  goneResource: "a deleted resource",
  stays: "stays signed in",
  since: "Since",
  last: "Confirmed",
  nowNamed: "now named",
  deleted: "deleted",
  off: "switched off",
  end: "End access",
  endText: (user, app) => ["This ends the sessions of ", user, " in ", app, ". The app asks for access again when the user next signs in."],
  endDeletedText: "This only removes the app from the user’s list, because its client has been deleted.",
  none: { title: "No app has access", text: "Apps to which this user gives access appear here." },
};
