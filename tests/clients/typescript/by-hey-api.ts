// Uses the client from @hey-api/openapi-ts: functions for all operations.

import * as api from "./hey-api";
import { createClient } from "./hey-api/client";
import { ADDRESS, SIGN_UP, URL, eventually, expect, headers } from "./support";

async function main(): Promise<void> {
  const client = createClient({ baseUrl: URL, headers: headers("client") });
  const server = createClient({ baseUrl: URL, headers: headers("server") });

  const signedUp = await api.authPasswordSignUp({ client, body: SIGN_UP });
  expect(signedUp.data, signedUp.error);
  const id: string = signedUp.data.user_id;
  const again = await api.authPasswordSignUp({ client, body: SIGN_UP });
  expect(again.error && "code" in again.error && again.error.code === "USER_EMAIL_ALREADY_EXISTS", again);

  const listed = await api.usersUserList({ client: server, query: { limit: 10, order_by: "signed_up_at", desc: true } });
  expect(listed.data?.items.some((user) => user.id === id && user.primary_email === ADDRESS), listed);

  const own = createClient({ baseUrl: URL, headers: headers("client", signedUp.data.access_token) });
  const patched = await api.usersMeUpdate({ client: own, body: { display_name: "Ada", client_metadata: { plan: "free" } } });
  expect(patched.data?.display_name === "Ada", patched);

  const email = await eventually(async () => {
    const outbox = await api.emailsOutboxList({ client: server, query: { limit: 10, simple_status: "ok" } });
    return outbox.data?.items.find((entry) => entry.rendered_at_millis && entry.subject);
  });
  const rendered: number | null | undefined = email.rendered_at_millis;
  const sent = await api.emailsOutboxUpdate({ client: server, path: { id: email.id }, body: { is_paused: true } });
  expect(rendered && sent.error && "code" in sent.error && sent.error.code === "EMAIL_NOT_EDITABLE", sent);

  const page = await api.contentGetPostPage({ client, path: { slug: "hello" } });
  const html: string | undefined = page.data;
  expect(html?.startsWith("<!DOCTYPE html>"), page);
}

void main();
