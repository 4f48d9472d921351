// English texts of the audit log.

import { count } from "./core/format.js";

export const audit = {
  title: "Audit log",
  lead: "Every sign-in and change, newest first. Entries cannot be changed.",
  what: "What",
  who: "Who",
  target: "Target",
  when: "When",
  event: "Event",
  everything: "Everything",
  /** Texts of events, if other than the words of their names. */
  events: { "sign-in": "signed in", "sign-in-failed": "sign-in failed", "sign-up-rejected": "sign-up rejected", created: "user created", deleted: "user deleted", impersonation: "acted as a user", "grant-given": "gave an app access", "grant-ended": "app lost access", "client-token-replayed": "an app’s token was replayed" },
  fields: (names) => `with ${names}`,
  times: (number) => `${count(number)} times`,
  actors: { anonymous: "Unknown caller", key: "Key", operator: "The operator", system: "The service" },
  none: { title: "Nothing yet", text: "Sign-ins and changes are recorded here." },
};
