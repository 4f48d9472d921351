// A user whose browser does not support JavaScript. The browser keeps cookies by host, path and
// time, does not follow redirects automatically, and fills in forms.

import assert from "node:assert/strict";

export class Visitor {
  #cookies = new Map();

  /** Sends one request with the URL's cookies, and stores those set by the response. */
  async ask(url, options = {}) {
    const place = new URL(url);
    const cookies = this.cookiesOf(place).map(({ name, value }) => `${name}=${value}`);
    const headers = { ...options.headers, ...(cookies.length > 0 && { cookie: cookies.join("; ") }) };
    const response = await fetch(place, { ...options, headers, redirect: "manual" });
    for (const line of response.headers.getSetCookie()) this.#keep(place, line);
    return response;
  }

  /** The cookies that would be sent to a URL. */
  cookiesOf(url) {
    const { host, pathname } = new URL(url);
    return [...this.#cookies.values()].filter((cookie) => cookie.host === host && cookie.ends > Date.now() && covers(cookie.path, pathname));
  }

  #keep({ host }, line) {
    const [pair, ...attributes] = line.split(";").map((part) => part.trim());
    const [name, value] = cut(pair);
    const found = Object.fromEntries(attributes.map((attribute) => cut(attribute)).map(([key, value]) => [key.toLowerCase(), value]));
    const ends = found["max-age"] !== undefined ? Date.now() + Number(found["max-age"]) * 1000 : Date.parse(found.expires ?? "") || Infinity;
    const path = found.path || "/";
    // Unlike in a real browser, cookies belong to one port here, so the provider's cookies never
    // reach the gateway.
    this.#cookies.set(`${host}${path} ${name}`, { host, path, name, value, ends });
  }

  /**
   * Goes through the provider, from its authorization URL to its redirect elsewhere. Returns the
   * redirect's target, and the names of the pages that asked the user something. `login` is the
   * user who logs in; `denies` names the page where they decline.
   */
  async through(location, { login, denies } = {}) {
    const { origin } = new URL(location);
    let url = new URL(location);
    const questions = [];
    for (let step = 0; step < 12; step += 1) {
      if (url.origin !== origin) return { url, questions };
      const response = await this.ask(url);
      if (response.status >= 300 && response.status < 400) {
        url = new URL(response.headers.get("location"), url);
        continue;
      }
      const html = await response.text();
      assert.equal(response.status, 200, html);
      const question = html.match(/<form method="post" id="(\w+)">/)?.[1];
      assert.ok(question, `a page of the provider: ${html}`);
      questions.push(question);
      const form = denies === question ? { deny: "" } : question === "login" ? { login } : {};
      const posted = await this.ask(url, { method: "POST", body: new URLSearchParams(form) });
      assert.equal(posted.status, 303, await posted.text());
      url = new URL(posted.headers.get("location"), url);
    }
    throw new Error(`the user is still at the provider after 12 steps: ${url}`);
  }
}

function cut(text) {
  const at = text.indexOf("=");
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

function covers(path, pathname) {
  return pathname === path || pathname.startsWith(path.endsWith("/") ? path : `${path}/`);
}
