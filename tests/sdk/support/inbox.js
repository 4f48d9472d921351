// The emails of a gateway, read from its inbox, or of a rehearsed deployment, read from its
// emulated SES.

import assert from "node:assert/strict";

import { until } from "./until.js";

export class Inbox {
  #url;
  #headers;
  #seen = new Set();

  /** The inbox of a gateway, opened with its page key, or of a deployment, which has none. */
  constructor({ mails, pageKey }) {
    this.#url = mails;
    this.#headers = pageKey ? { authorization: `Bearer ${pageKey}` } : {};
  }

  /** The emails that match a query. */
  async list(query) {
    const answer = await fetch(`${this.#url}?${new URLSearchParams(query)}`, { headers: this.#headers });
    assert.equal(answer.status, 200);
    return answer.json();
  }

  /** Every email to an address, oldest first. */
  async all(address) {
    const { items, messages } = await this.list({ to: address });
    // A gateway returns the emails to this address, newest first. The emulated SES of a deployment
    // returns all emails, by AWS account.
    return items?.reverse() ?? Object.values(messages).flat().filter(({ To }) => To.includes(address)).map(fromSes);
  }

  /**
   * Waits for the next email to an address that was not returned before. Skips notices of changes,
   * a side effect of many tests.
   */
  async next(address) {
    const isNext = (mail) => !this.#seen.has(mail.id) && !mail.subject.endsWith(" was changed");
    const mail = await until(async () => (await this.all(address)).find(isNext), `an email to ${address}`);
    this.#seen.add(mail.id);
    return mail;
  }

  /** Waits for a notice of a change to an address; returns the newest. */
  changed(address) {
    const isNotice = ({ subject }) => subject.endsWith(" was changed");
    return until(async () => (await this.all(address)).findLast(isNotice), `an email about a change to ${address}`);
  }
}

function fromSes({ MessageId: id, To: to, Subject: subject, BodyText: text, BodyHtml: html, Timestamp: seconds }) {
  return { id, to, subject, text, html, sent_at_millis: seconds * 1_000 };
}

/** An email's link and its code, which must be the same in text and HTML. */
export function linkOf(mail) {
  // A verification email contains a second link, for recipients who have not created the account.
  const links = (mail.text.match(/https?:\/\/\S+/g) ?? []).filter((link) => !link.includes("/release-link?"));
  assert.equal(links.length, 1, `one link in: ${mail.text}`);
  const url = new URL(links[0]);
  const code = url.searchParams.get("code");
  assert.match(code, /^[0-9a-z]{45}$/);
  assert.ok(mail.html.includes(code), "the HTML has the link of the text");
  return { url, code };
}

/** The six characters to type, as shown in the subject and both bodies. */
export function typedCodeOf(mail) {
  const [, typed] = mail.subject.match(/Your code is ([0-9A-Z]{6})$/) ?? [];
  assert.ok(typed, `a code in: ${mail.subject}`);
  assert.ok(mail.text.includes(typed) && mail.html.includes(typed));
  return typed;
}
