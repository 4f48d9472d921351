// Sign-up, sign-in and sign-out: passwords, emailed codes and links, and the pages behind these
// links.

import { test } from "node:test";

import { PASSWORD, newAddress, world } from "../support/world.js";

const w = world();

test("a new user verifies the address by link, and signs out by menu", async (t) => {
  const it = await w.arrive(t);
  const email = newAddress();
  await it.open("/handler/sign-in");
  await it.picture("sign-in");
  await it.page.getByText("Sign up", { exact: true }).click();
  await it.sees("Create a new account");
  await it.signUp(email, PASSWORD);
  await it.is(`${email} unverified`);
  const link = await w.linkTo(email, "/handler/email-verification");
  await it.page.goto(link);
  await it.sees("Do you want to verify your email?");
  await it.picture("email-verification");
  await it.click("Verify");
  await it.sees("You email has been verified!");
  await it.click("Go home");
  await it.is(`${email} verified`);

  await it.open("/handler/sign-in");
  await it.is(`${email} verified`);
  await it.page.locator("header button").first().click();
  await it.picture("user-button");
  await it.page.getByRole("menuitem", { name: "Sign out" }).click();
  await it.is("nobody");
  it.check("sign-up");
});

test("a wrong password is reported at its field, and the right one signs in", async (t) => {
  const { email } = await w.member(t);
  const it = await w.arrive(t);
  it.expects("400 POST /api/v1/auth/password/sign-in");
  await it.signIn(email, "not the password");
  await it.sees(/Wrong e-mail or password/);
  await it.picture("wrong-password");
  await it.page.fill("#password", PASSWORD);
  await it.click("Sign In");
  await it.is(`${email} verified`);
  it.check("sign-in");
});

test("a taken address is reported at its field", async (t) => {
  const { email } = await w.member(t);
  const it = await w.arrive(t);
  it.expects("409 POST /api/v1/auth/password/sign-up");
  await it.signUp(email, PASSWORD);
  await it.sees(/already exists/);
  it.check("sign-up of a taken address");
});

test("an emailed link and code sign in, and create an account", async (t) => {
  const email = newAddress();
  const it = await w.arrive(t);
  await it.open("/handler/sign-in");
  await it.page.fill("#email", email);
  await it.click("Send email");
  await it.sees("Enter the code from your email");
  await it.picture("magic-link-code");
  await it.page.locator("input[data-input-otp]").fill(await w.codeTo(email));
  await it.is(`${email} verified`);
  it.check("sign-in by a code");

  // The link of the first email is skipped, because its code has been used.
  await w.linkTo(email, "/handler/magic-link-callback");
  const other = await w.arrive(t);
  await other.open("/handler/sign-in");
  await other.page.fill("#email", email);
  await other.click("Send email");
  await other.sees("Enter the code from your email");
  await other.page.goto(await w.linkTo(email, "/handler/magic-link-callback"));
  await other.sees("Do you want to sign in?");
  await other.picture("magic-link");
  await other.click("Sign in");
  await other.is(`${email} verified`);
  other.check("sign-in by a link");
});

test("a forgotten password is reset by the link", async (t) => {
  const { email } = await w.member(t);
  const it = await w.arrive(t);
  await it.open("/handler/forgot-password");
  await it.page.fill("#email", email);
  await it.picture("forgot-password");
  await it.click("Send Email");
  await it.sees("Email sent!");
  const link = await w.linkTo(email, "/handler/password-reset");
  await it.page.goto(link);
  await it.page.fill("#password", "another horse battery");
  await it.page.fill("#repeat-password", "another horse battery");
  await it.picture("password-reset");
  await it.click("Reset Password");
  await it.sees("Password reset successfully!");
  it.check("reset");
  it.expects("409 POST /api/v1/auth/password/reset/check-code");
  await it.page.goto(link);
  await it.sees("Used Password Reset Link");
  await it.signIn(email, "another horse battery");
  await it.is(`${email} verified`);
  it.check("after the reset");
});

test("invalid links are reported", async (t) => {
  const it = await w.arrive(t);
  const nothing = "a".repeat(45);
  it.expects("404 POST /api/v1/auth/password/reset/check-code");
  await it.open(`/handler/password-reset?code=${nothing}`);
  await it.sees("Invalid Password Reset Link");
  it.expects("404 POST /api/v1/contact-channels/verify");
  await it.open(`/handler/email-verification?code=${nothing}`);
  await it.click("Verify");
  await it.sees("Invalid Verification Link");
  it.expects("404 POST /api/v1/auth/otp/sign-in");
  await it.open(`/handler/magic-link-callback?code=${nothing}`);
  await it.click("Sign in");
  await it.sees("Invalid Magic Link");
  await it.open("/handler/error?errorCode=OAUTH_PROVIDER_ACCESS_DENIED&message=no");
  await it.sees("OAuth provider access denied");
  await it.picture("error");
  it.check("wrong links");
});
