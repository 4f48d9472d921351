// English texts of the overview.

import { count } from "./core/format.js";

export const metrics = {
  lead: "The last 30 days, in UTC. Figures may be up to two minutes old.",
  notCounted: "This project’s users have not been counted yet, so these figures cover only changes since the audit log began. To count the users, run:",
  users: "Users",
  usersHelp: (verified, anonymous) => `${count(verified)} verified, ${count(anonymous)} anonymous`,
  mau: "Active in 30 days",
  mauHelp: "Users who signed in, changed something or refreshed a session",
  teams: "Teams",
  delivered: "Emails delivered",
  deliveredHelp: (sent) => `of ${count(sent)} sent`,
  signUps: "Sign-ups per day",
  activeUsers: "Active users today",
  emails: "Emails per day",
  methods: "Sign-in methods",
  noMethods: "Nobody has signed up yet.",
  picture: (title, days) => `${title}: bar chart of ${days} days; the figures are in the table below`,
  figures: "Figures",
  day: "Day",
  number: "Number",
  newest: "Newest users",
  allUsers: "All users",
};
