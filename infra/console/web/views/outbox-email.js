// An email in the outbox: its status and source, and a form to change it before it is sent.

import { confirm } from "../components/dialog.js";
import { form, saves } from "../components/form.js";
import { button, code, curlButton, facts, head, heading, id, link, shown, time } from "../components/parts.js";
import { preview } from "../components/preview.js";
import { path } from "../core/api.js";
import { h } from "../core/dom.js";
import { texts as t } from "../texts.js";
import { mails as m } from "../texts-emails.js";
import { recipients, stateOf, userReader } from "./outbox.js";

const ENDED = ["sent", "opened", "clicked", "skipped", "bounced", "delivery-delayed", "marked-as-spam", "sending"];

export async function view(context) {
  const { api, parameters } = context;
  const place = path`/emails/outbox/${parameters.email}`;
  const { body: email, etag } = await api.answer("GET", place);
  const frame = email.html ? preview() : null;
  frame?.show(email.html);
  const moments = Object.entries(email).filter(([name, value]) => name.endsWith("_at_millis") && typeof value === "number");
  return h(
    "div",
    {},
    head(shown(email.subject ?? email.subject_source, { max: 200 }), {
      lead: stateOf(email),
      actions: [curlButton(() => api.request("GET", place))],
    }),
    facts(
      [t.id, id(email.id)],
      [m.outbox.to, recipientsOf(context, email.to)],
      ...moments.map(([name, value]) => [m.outbox.moment(name.replace("_at_millis", "")), time(value, { isLong: true })]),
      (email.render_error ?? email.server_error) && [m.outbox.error, shown(email.render_error ?? email.server_error, { max: 2000 })],
      email.skipped_reason && [m.outbox.skipped, shown(m.outbox.reason(email.skipped_reason))],
      email.send_retries > 0 && [m.outbox.retries, String(email.send_retries)],
    ),
    !ENDED.includes(email.status) && changes({ ...context, place, email, etag }),
    frame && [heading(m.emails.preview), frame],
    email.text && [heading(m.outbox.text), code(email.text)],
    heading(m.outbox.source),
    code(email.html_source || m.outbox.erased),
  );
}

/** The recipients of the email, with a link to the user. */
function recipientsOf({ api, to: url }, { user_id: user, ...rest }) {
  const names = recipients({ user_id: user, ...rest }, userReader(api));
  return user ? link(url(`/users/${user}`), names) : names;
}

/** Changes, made only if the email is still as shown on this page. */
function changes({ api, place, email, etag, refresh }) {
  const change = (body) => api.patch(place, body, { ifMatch: etag });
  const ask = async (title, text, body) => {
    if (await confirm({ title, text, act: () => change(body) })) await refresh();
  };
  const isPaused = email.is_paused;
  const entry = api.resource(place);
  return h(
    "section",
    {},
    heading(m.outbox.change),
    h(
      "div",
      { class: "buttons" },
      isPaused
        ? button(m.outbox.resume, () => ask(m.outbox.resume, m.outbox.resumeText, { is_paused: false }))
        : button(m.outbox.pause, () => ask(m.outbox.pause, m.outbox.pauseText, { is_paused: true })),
      button(m.outbox.cancel, () => ask(m.outbox.cancel, m.outbox.cancelText, { cancel: true }), { class: "danger" }),
    ),
    isPaused &&
      form({
        fields: [
          { name: "subject_source", label: m.outbox.subject, required: true },
          { name: "html_source", label: m.outbox.source, type: "long", rows: 12 },
        ],
        values: email,
        ...saves(entry),
        done: refresh,
      }),
  );
}
