//! Accounts with a code of every kind, and every event that may happen to these accounts. The tests
//! in [`super::code_matrix`] check which events invalidate which codes.

use std::collections::BTreeMap;
use std::sync::Arc;

use Event::{
    AddressAdded, AddressNoLongerSignsIn, AddressRemoved, AddressReplaced, AddressVerified, Anonymous, AuthenticatorRemoved,
    AuthenticatorSet, CreatorProves, Deleted, EmailCodesOff, EveryoneOut, EveryoneOutByServer, FirstPassword, NameChanged, NoLongerPrimary,
    NotMePressed, Nothing, OwnAddressRemoved, PasswordRemovedByServer, PasswordReset, PasswordSetByServer, PasswordUpdated,
    PrimaryReplacedByServer, ProviderProves, ProviderShut, ProviderUnlinked, Released, ResetProves, Restricted, SessionEndedByServer,
    SignInProves, SignedOut,
};
use Kind::{Attempt, Authorization, Invitation, NotMe, Release, Reset, SignInLink, SignInTyped, Unsubscribe, Verification};
use jiff::SignedDuration;
use serde_json::{Value, json};
use support::provider::Provider;
use support::{Answer, Mail, SignedInUser, TestApp};

use super::{CALLBACK, CHANNELS, NEW, PASSWORD, add, added, change, otp_sign_in, reset, reset_code, verification_code, verify};
use crate::auth::account_notices::{link as not_me_link, notices, with_pages};
use crate::auth::assert_error;
use crate::auth::oauth_callback::{self, exchange, flow, parameter};
use crate::emails::send;
use crate::stored;

/// The time between two changes, so that the emails about the changes have a defined order.
const TICK: SignedDuration = SignedDuration::from_secs(1);
const ADA: &str = "ada@example.com";
/// A second, verified address of the account.
const WORK: &str = "work@example.com";
const THIRD: &str = "third@example.com";
pub(super) const ME: &str = "/api/v1/users/me";
/// The secret of an authenticator app: 20 bytes in base64.
const SECRET: &str = "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=";
const OTHER_SECRET: &str = "MTIzNDU2Nzg5MDEyMzQ1Njc4OTE=";

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    SignInLink,
    /// The typed part of a sign-in code, combined with the part that the app stores.
    SignInTyped,
    Verification,
    Reset,
    /// The attempt code of a sign-in waiting for its second factor.
    Attempt,
    /// The authorization code that an app receives at the end of an OAuth flow.
    Authorization,
    Invitation,
    /// The "This wasn't me" link in an email about a change.
    NotMe,
    /// The "This wasn't me" link in a verification email.
    Release,
    Unsubscribe,
}

pub(super) const KINDS: [Kind; 10] =
    [SignInLink, SignInTyped, Verification, Reset, Attempt, Authorization, Invitation, NotMe, Release, Unsubscribe];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    Nothing,
    NameChanged,
    SignedOut,
    SessionEndedByServer,
    AddressAdded,
    AddressVerified,
    PasswordUpdated,
    PasswordReset,
    FirstPassword,
    PasswordSetByServer,
    PasswordRemovedByServer,
    EveryoneOut,
    EveryoneOutByServer,
    AddressRemoved,
    AddressReplaced,
    AddressNoLongerSignsIn,
    NoLongerPrimary,
    PrimaryReplacedByServer,
    OwnAddressRemoved,
    ProviderUnlinked,
    ProviderShut,
    EmailCodesOff,
    AuthenticatorSet,
    AuthenticatorRemoved,
    NotMePressed,
    Released,
    Restricted,
    Anonymous,
    Deleted,
    ResetProves,
    SignInProves,
    ProviderProves,
    CreatorProves,
}

/// An account's state when its codes are created.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Base {
    /// Whether [`ADA`] is verified. If it is not, the account's creator gets the codes at [`WORK`].
    pub(super) is_proved: bool,
    pub(super) has_password: bool,
    /// Whether sign-in requires a code from an authenticator app.
    pub(super) has_app: bool,
}

impl Base {
    pub(super) const PLAIN: Self = Self { is_proved: true, has_password: true, has_app: false };

    /// The address that the codes are sent to.
    fn address(self) -> &'static str {
        if self.is_proved { ADA } else { WORK }
    }
}

/// What all services started from an account's snapshot have in common.
#[derive(Clone)]
pub(super) struct AccountFacts {
    pub(super) provider: Arc<Provider>,
    /// A session of the account.
    ada: SignedInUser,
    /// The channel id of [`WORK`].
    work: String,
    pub(super) codes: BTreeMap<Kind, String>,
    /// The link in the last notice. The first notice contains the link for [`NotMe`].
    pub(super) later_not_me: String,
}

pub(super) struct World {
    pub(super) app: TestApp,
    pub(super) provider: Arc<Provider>,
    pub(super) ada: SignedInUser,
    work: String,
    base: Base,
}

/// The path of a link in an email.
fn path(mail: &Mail, part: &str) -> String {
    let link = mail.0.text.split_whitespace().find(|word| word.contains(part)).unwrap_or_else(|| panic!("no {part} in {}", mail.0.text));
    link.strip_prefix(support::API_URL).unwrap().to_owned()
}

/// The claims of the provider account, which is another person's unless [`ADA`] is verified.
fn account_of(base: Base) -> Value {
    if base.is_proved {
        oauth_callback::ada()
    } else {
        json!({ "sub": "acme|666", "email": "eve@provider.example", "email_verified": false })
    }
}

impl World {
    pub(super) async fn new(base: Base) -> Self {
        let (app, provider) = oauth_callback::start().await;
        with_pages(&app).await;
        let ada = if base.is_proved {
            let ada = app.sign_in_by_mail(ADA).await;
            if base.has_password {
                change(&app, &ada.user_id, json!({ "password": PASSWORD })).await;
                app.advance(TICK);
            }
            app.sign_in_by_mail(ADA).await
        } else {
            let body = json!({ "email": ADA, "password": PASSWORD, "verification_callback_url": CALLBACK });
            SignedInUser::of(ADA, &app.client().post("/api/v1/auth/password/sign-up", body).await.json())
        };
        let body = json!({ "user_id": ada.user_id, "value": WORK, "type": "email", "used_for_auth": true, "is_verified": true });
        let work = app.server().post(CHANNELS, body).await.json()["id"].as_str().unwrap().to_owned();
        app.advance(TICK);
        let world = Self { app, provider: Arc::new(provider), ada, work, base };
        world.link_account().await;
        world.app.advance(TICK);
        if base.has_app {
            let set = world.app.signed_in(&world.ada).patch(ME, json!({ "totp_secret_base64": SECRET })).await;
            assert_eq!(set.status(), 200);
        }
        world
    }

    async fn link_account(&self) {
        let link = [("type", "link"), ("token", self.ada.access_token.as_str())];
        let url = flow(&self.app, &self.provider, account_of(self.base), &link).await;
        let linked = exchange(&self.app, &parameter(&url, "code")).await;
        assert_eq!(linked.status(), 200, "{}", linked.text());
    }

    pub(super) fn of(known: &AccountFacts, app: TestApp, base: Base) -> Self {
        Self { app, provider: Arc::clone(&known.provider), ada: known.ada.clone(), work: known.work.clone(), base }
    }

    /// Creates codes of all kinds. The kind [`Attempt`] requires an app.
    pub(super) async fn known(&self) -> AccountFacts {
        let mut codes = BTreeMap::new();
        for kind in KINDS.into_iter().filter(|kind| *kind != Attempt || self.base.has_app) {
            codes.insert(kind, self.code(kind).await);
        }
        let later = notices(&self.app, self.base.address()).await;
        let later_not_me = not_me_link(later.get(1).unwrap_or(&later[0]));
        AccountFacts { provider: Arc::clone(&self.provider), ada: self.ada.clone(), work: self.work.clone(), codes, later_not_me }
    }

    /// Creates a code of this kind, or finds it in an email. For links, returns the path.
    pub(super) async fn code(&self, kind: Kind) -> String {
        let (app, address) = (&self.app, self.base.address());
        match kind {
            SignInLink => app.sign_in_code(address).await,
            SignInTyped => {
                let body = json!({ "email": address, "callback_url": CALLBACK });
                let sent = app.client().post("/api/v1/auth/otp/send-sign-in-code", body).await.json();
                let typed = app.last_mail(address).await.code()[..6].to_uppercase();
                format!("{typed}{}", sent["nonce"].as_str().unwrap())
            }
            Verification => verification_code(app, &self.ada, &self.third().await, THIRD).await,
            Reset => reset_code(app, address).await,
            Attempt => {
                let code = app.sign_in_code(address).await;
                let details = assert_error(&otp_sign_in(app, &code).await, 400, "MULTI_FACTOR_AUTHENTICATION_REQUIRED");
                details["attempt_code"].as_str().unwrap().to_owned()
            }
            Authorization => parameter(&flow(app, &self.provider, account_of(self.base), &[]).await, "code"),
            Invitation => {
                let team = app.server().post("/api/v1/teams", json!({ "display_name": "Engines" })).await.json()["id"].clone();
                let body = json!({ "team_id": team, "email": address, "callback_url": CALLBACK });
                assert_eq!(app.server().post("/api/v1/team-invitations/send-code", body).await.status(), 200);
                app.last_mail(address).await.code()
            }
            NotMe => not_me_link(&notices(app, address).await[0]),
            Release => {
                let address = if self.base.is_proved { THIRD } else { ADA };
                let mails = app.mails(address).await;
                path(mails.iter().find(|mail| mail.0.text.contains("/release-link?")).unwrap(), "/release-link?")
            }
            Unsubscribe => {
                send(app, &self.ada, json!({ "notification_category_name": "Marketing" })).await;
                path(&app.last_mail(ADA).await, "/unsubscribe-link?")
            }
        }
    }

    /// The channel id of [`THIRD`], which is added as a pending address if it is missing.
    async fn third(&self) -> String {
        match self.channel(THIRD).await {
            Some(id) => id,
            None => added(&self.app, &self.ada, THIRD).await,
        }
    }

    async fn channel(&self, address: &str) -> Option<String> {
        let list = self.app.server().get(&format!("{CHANNELS}?user_id={}", self.ada.user_id)).await.json();
        let channel = list["items"].as_array().unwrap().iter().find(|channel| channel["value"] == address)?;
        Some(channel["id"].as_str().unwrap().to_owned())
    }

    pub(super) async fn happen(&self, event: Event, later_not_me: &str, release: &str) {
        let (app, own) = (&self.app, self.app.signed_in(&self.ada));
        let user = format!("/api/v1/users/{}", self.ada.user_id);
        let work = format!("{CHANNELS}/{}/{}", self.ada.user_id, self.work);
        let done = match event {
            Nothing => return,
            NameChanged => own.patch(ME, json!({ "display_name": "Ada" })).await,
            SignedOut => own.delete("/api/v1/auth/sessions/current").await,
            SessionEndedByServer => {
                let sessions = app.server().get(&format!("/api/v1/auth/sessions?user_id={}", self.ada.user_id)).await.json();
                app.server().delete(&format!("/api/v1/auth/sessions/{}", sessions["items"][0]["id"].as_str().unwrap())).await
            }
            AddressAdded => add(app, &self.ada, "fourth@example.com").await,
            AddressVerified => {
                let fourth = added(app, &self.ada, "fourth@example.com").await;
                verify(app, &verification_code(app, &self.ada, &fourth, "fourth@example.com").await).await
            }
            PasswordUpdated => own.post("/api/v1/auth/password/update", json!({ "old_password": PASSWORD, "new_password": NEW })).await,
            PasswordReset => reset(app, &reset_code(app, WORK).await).await,
            FirstPassword => own.post("/api/v1/auth/password/set", json!({ "password": NEW })).await,
            PasswordSetByServer => app.server().patch(&user, json!({ "password": NEW })).await,
            PasswordRemovedByServer => app.server().patch(&user, json!({ "password": null })).await,
            EveryoneOut => own.delete("/api/v1/auth/sessions?user_id=me").await,
            EveryoneOutByServer => app.server().delete(&format!("/api/v1/auth/sessions?user_id={}", self.ada.user_id)).await,
            AddressRemoved => own.delete(&work).await,
            AddressReplaced => own.patch(&work, json!({ "value": "office@example.com" })).await,
            AddressNoLongerSignsIn => own.patch(&work, json!({ "used_for_auth": false })).await,
            NoLongerPrimary => own.patch(&work, json!({ "is_primary": true })).await,
            PrimaryReplacedByServer => app.server().patch(&user, json!({ "primary_email": "office@example.com" })).await,
            OwnAddressRemoved => own.delete(&format!("{CHANNELS}/me/{}", self.channel(ADA).await.unwrap())).await,
            ProviderUnlinked => own.delete(&self.provider_account().await).await,
            ProviderShut => own.patch(&self.provider_account().await, json!({ "allow_sign_in": false })).await,
            EmailCodesOff => own.patch(ME, json!({ "otp_auth_enabled": false })).await,
            AuthenticatorSet => own.patch(ME, json!({ "totp_secret_base64": OTHER_SECRET })).await,
            AuthenticatorRemoved => own.patch(ME, json!({ "totp_secret_base64": null })).await,
            NotMePressed => app.anonymous().request("POST", later_not_me).send().await,
            Released => app.anonymous().request("POST", release).send().await,
            Restricted => app.server().patch(&user, json!({ "restricted_by_admin": true })).await,
            // No operation makes ordinary users anonymous.
            Anonymous => return stored::change_user(app, &self.ada, |user| user.is_anonymous = true).await,
            Deleted => app.server().delete(&user).await,
            ResetProves => reset(app, &reset_code(app, ADA).await).await,
            SignInProves => otp_sign_in(app, &app.sign_in_code(ADA).await).await,
            ProviderProves => return drop(oauth_callback::sign_in(app, &self.provider, oauth_callback::ada()).await),
            CreatorProves => {
                let answer = own.post("/api/v1/auth/otp/sign-in", json!({ "code": app.sign_in_code(ADA).await })).await;
                assert!(opens(&answer), "{}", answer.text());
                return;
            }
        };
        assert!([200, 201].contains(&done.status()), "{event:?}: {}", done.text());
    }

    /// The path of the user's account at the provider.
    async fn provider_account(&self) -> String {
        let list = self.app.server().get(&format!("/api/v1/oauth-providers?user_id={}", self.ada.user_id)).await.json();
        format!("/api/v1/oauth-providers/me/{}", list["items"][0]["id"].as_str().unwrap())
    }

    pub(super) async fn redeem(&self, kind: Kind, code: &str) -> Answer {
        let app = &self.app;
        match kind {
            SignInLink | SignInTyped => otp_sign_in(app, code).await,
            Verification => verify(app, code).await,
            Reset => reset(app, code).await,
            Attempt => {
                let totp = support::authenticator_code(b"12345678901234567890", app.now().as_second());
                app.client().post("/api/v1/auth/mfa/sign-in", json!({ "code": code, "type": "totp", "totp": totp })).await
            }
            Authorization => exchange(app, code).await,
            Invitation => {
                // The session is new, because the event may have ended earlier sessions.
                let begun = app.server().post("/api/v1/auth/sessions", json!({ "user_id": self.ada.user_id })).await;
                let token = if begun.status() == 200 { begun.json()["access_token"].clone() } else { json!(self.ada.access_token) };
                let caller = app.client().with("x-stack-access-token", token.as_str().unwrap());
                caller.post("/api/v1/team-invitations/accept", json!({ "code": code })).await
            }
            NotMe | Release | Unsubscribe => app.anonymous().request("POST", code).send().await,
        }
    }

    /// Whether the code is reported as valid. `None` for kinds that have no such check.
    pub(super) async fn is_valid(&self, kind: Kind, code: &str) -> Option<bool> {
        let path = match kind {
            SignInLink | SignInTyped => "/api/v1/auth/otp/sign-in/check-code",
            Verification => "/api/v1/contact-channels/verify/check-code",
            Reset => "/api/v1/auth/password/reset/check-code",
            _ => return None,
        };
        Some(self.app.client().post(path, json!({ "code": code })).await.json()["is_code_valid"] == true)
    }
}

/// Whether the response shows that the first factor was accepted.
pub(super) fn opens(answer: &Answer) -> bool {
    answer.status() == 200 || (answer.status() == 400 && answer.code() == "MULTI_FACTOR_AUTHENTICATION_REQUIRED")
}
