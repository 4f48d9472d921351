// Uses openapi-fetch with the types from openapi-typescript: paths, as in the document.

import createClient from "openapi-fetch";
import type { paths } from "./openapi-typescript";
import { ADDRESS, SIGN_UP, URL, eventually, expect, headers } from "./support";

async function main(): Promise<void> {
  const client = createClient<paths>({ baseUrl: URL, headers: headers("client") });
  const server = createClient<paths>({ baseUrl: URL, headers: headers("server") });

  const signedUp = await client.POST("/api/v1/auth/password/sign-up", { body: SIGN_UP });
  expect(signedUp.data, signedUp.error);
  const again = await client.POST("/api/v1/auth/password/sign-up", { body: SIGN_UP });
  expect(again.error?.code === "USER_EMAIL_ALREADY_EXISTS", again);

  const listed = await server.GET("/api/v1/users", { params: { query: { limit: 10, order_by: "signed_up_at", desc: true } } });
  const id: string = signedUp.data.user_id;
  expect(listed.data?.items.some((user) => user.id === id && user.primary_email === ADDRESS), listed);

  const own = createClient<paths>({ baseUrl: URL, headers: headers("client", signedUp.data.access_token) });
  const patched = await own.PATCH("/api/v1/users/me", { body: { display_name: "Ada" } });
  expect(patched.data?.display_name === "Ada", patched);

  const email = await eventually(async () => {
    const outbox = await server.GET("/api/v1/emails/outbox", { params: { query: { limit: 10, simple_status: "ok" } } });
    return outbox.data?.items.find((entry) => entry.rendered_at_millis && entry.subject);
  });
  const rendered: number | null | undefined = email.rendered_at_millis;
  expect(rendered, email);

  const page = await client.GET("/blog/{slug}", { params: { path: { slug: "hello" } }, parseAs: "text" });
  const html: string | undefined = page.data;
  expect(html?.startsWith("<!DOCTYPE html>"), page);
}

void main();
