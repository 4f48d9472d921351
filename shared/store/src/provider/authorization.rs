//! The state of an OAuth flow: the authorization until the provider sends the user back, then the
//! code until the app redeems it. The inner state is the `state` parameter sent to the provider.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | authorization | `S#<digest of the inner state>` | `STATE` | 1 unit for each KB to write, and again to take |
//! | authorization code | `A#<P>#<digest of the code>` | `CODE` | 2 units to write and 2 to redeem, both in transactions; a link or an upgrade costs 2 more each time, for the session, and redeeming a link 1 more, to read the session |
//!
//! Taking an authorization and redeeming a code are each one conditional update, so only one of
//! several concurrent attempts succeeds. A redeemed code is kept until a day after its expiry, with
//! the id of its session. If the code is presented again, the session ends (RFC 6749 §4.1.2).

use crypto::digest::Digest;
use crypto::seal::SealedText;
use jiff::{SignedDuration, Timestamp};
use model::project::redirect::RedirectUrl;
use model::provider::account::ProviderAccount;
use model::provider::profile::Profile;
use model::sign_in::authorization::{Authorization, MEMORY};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use wire::clock::after;
use wire::id::{ProjectId, SessionId, UserId};

use crate::provider::tokens::{NewTokens, ProviderTokens};
use crate::table::{Error, Key, Label, Store, Write, entity, is_made, string, unless_conflict};

/// How long an app has to exchange a code (RFC 6749 §4.1.2 recommends at most ten minutes).
pub const CODE_LIFE: SignedDuration = SignedDuration::from_mins(5);
/// How long a code is kept after its expiry, to detect the reuse of redeemed codes.
const CODE_MEMORY: SignedDuration = SignedDuration::from_hours(24);

/// An authorization code.
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuthorizationCode {
    /// The user of the code.
    pub user_id: UserId,
    /// The user's credential epoch when the code was created.
    #[serde(default)]
    pub epoch: u64,
    /// For a link or an upgrade, the session in which the flow began; the code is valid only while
    /// the session is live. Absent from codes of other flows, and from codes created by earlier
    /// versions.
    pub begun_in: Option<SessionId>,
    /// The redirect URI from the start of the flow.
    pub redirect_uri: RedirectUrl,
    /// The app's PKCE challenge, method S256.
    pub code_challenge: String,
    /// The URL to which the app sends the user after the callback, if the app specified one.
    pub after_callback_redirect_url: Option<RedirectUrl>,
    /// Whether the flow created the user, or upgrades an anonymous user to an ordinary one.
    pub is_new_user: bool,
    /// When the code expires.
    pub expires_at: Timestamp,
    /// The change to make to the user when the code is redeemed, or to pass on to a sign-in attempt
    /// that awaits the second factor. Removed when the code is redeemed; absent if there is no
    /// change.
    pub pending: Option<PendingAccount>,
    /// The provider's tokens, if the user already had the account before the flow. The tokens are
    /// stored when the code is redeemed, or passed on to a sign-in attempt that awaits the second
    /// factor. Removed when the code is redeemed. Absent if there are no tokens or `pending`
    /// contains the tokens. Also absent from codes created by earlier versions, which stored the
    /// tokens immediately.
    pub new_tokens: Option<NewTokens>,
    /// The session for which the code was redeemed; absent until then.
    pub session_id: Option<SessionId>,
    /// The session that the code transfers to another domain, if any. Redeeming a code that
    /// transfers a session does not start another session.
    pub handed_over: Option<SessionHandover>,
}

/// A session that a code transfers to another domain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionHandover {
    /// The session.
    pub session_id: SessionId,
    /// The refresh token of the session, sealed for [`SessionHandover::owner`]; removed when the
    /// code is redeemed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh_token: Option<SealedText>,
}

impl SessionHandover {
    /// The owner name under which the refresh token is sealed.
    pub fn owner(project: &ProjectId, session: SessionId) -> String {
        format!("{project}/{session}/handed-over")
    }
}

/// A change to an existing user, either the one whose access token began the flow or the owner of
/// the provider account's email address.
///
/// The person who returns from the provider may not be the one who began the flow: an attacker can
/// begin a flow and lead a victim through the rest. An immediate change would link the victim's
/// provider account to the attacker's user (RFC 9700 §4.7), or change the victim's own user
/// although the victim had not signed in here. Only the PKCE verifier, sent when the app exchanges
/// the code, proves that the same person began and completed the flow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PendingAccount {
    /// The kind of change.
    pub change: PendingChange,
    /// The provider account to add.
    pub account: ProviderAccount,
    /// The provider's tokens for the account; absent if apps do not get tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<ProviderTokens>,
    /// The profile that the provider reports.
    pub profile: Profile,
}

/// The kind of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PendingChange {
    /// The provider account is added as another way to sign in.
    Link,
    /// The anonymous user becomes an ordinary user.
    Upgrade {
        /// Whether the user can also sign in with the email address that the provider reports.
        email_signs_in: bool,
    },
    /// The provider account is added to the user who has verified the account's email address here.
    Attach,
    /// The user has not verified the email address of the provider account here. The person who has
    /// verified the address at the provider takes over the user.
    TakeOver,
}

impl PendingChange {
    /// Whether the change is to the user whose access token began the flow.
    pub fn is_of_beginner(self) -> bool {
        matches!(self, Self::Link | Self::Upgrade { .. })
    }
}

fn state_key(state: &SecretString) -> Key {
    Key::new(format!("S#{}", Digest::of(state.expose_secret())), "STATE")
}

/// The key of an authorization code.
pub fn code_key(project: &ProjectId, code: &SecretString) -> Key {
    Key::new(format!("A#{project}#{}", Digest::of(code.expose_secret())), "CODE")
}

/// Writes a new code.
pub fn create_code(project: &ProjectId, code: &SecretString, stored: &AuthorizationCode) -> Result<Write, Error> {
    Ok(Write::create(code_key(project, code), stored)?.expires(after(stored.expires_at, CODE_MEMORY)))
}

/// Redeems a code for a session, and removes the pending change and the provider's tokens from the
/// item.
pub fn redeem_code(project: &ProjectId, code: &SecretString, session: SessionId) -> Write {
    redeem(project, code, session, "SET d.session_id = :session REMOVE d.pending, d.new_tokens")
}

/// Redeems a code that transfers a session to another domain, and removes the refresh token from
/// the item.
pub fn redeem_handed_over(project: &ProjectId, code: &SecretString, session: SessionId) -> Write {
    redeem(project, code, session, "SET d.session_id = :session REMOVE d.handed_over.refresh_token")
}

fn redeem(project: &ProjectId, code: &SecretString, session: SessionId, change: &str) -> Write {
    Write::update(code_key(project, code), change)
        .labelled(Label::Code)
        .on("attribute_exists(pk) AND attribute_not_exists(d.session_id)")
        .value(":session", string(session.to_string()))
}

impl Store {
    /// Stores an authorization under its inner state. The authorization is kept past its expiry, so
    /// that users who return late still get back to the app.
    pub async fn begin_authorization(&self, state: &SecretString, authorization: &Authorization) -> Result<(), Error> {
        self.write_unrecorded(Write::create(state_key(state), authorization)?.expires(after(authorization.expires_at, MEMORY))).await
    }

    /// Takes an authorization, which works once; `None` if it does not exist or has already been
    /// taken. The item is marked instead of deleted, so that the store can retry a call whose
    /// response was lost.
    pub async fn take_authorization(&self, state: &SecretString) -> Result<Option<Authorization>, Error> {
        let update = Write::update(state_key(state), "SET taken_by = :mark")
            .on("attribute_exists(pk) AND (attribute_not_exists(taken_by) OR taken_by = :mark)")
            .value(":mark", string(self.entropy.uuid().to_string()));
        unless_conflict(update.send_returning(&self.client, &self.table).await)?.map(entity).transpose()
    }

    /// Deletes a code unless it has been redeemed: redeemed codes are kept to detect their reuse.
    pub async fn end_code(&self, project: &ProjectId, code: &SecretString) -> Result<(), Error> {
        let delete = Write::delete(code_key(project, code)).on("attribute_not_exists(d.session_id)");
        is_made(self.write_unrecorded(delete).await).map(drop)
    }

    /// The stored authorization code.
    pub async fn authorization_code(&self, project: &ProjectId, code: &SecretString) -> Result<Option<AuthorizationCode>, Error> {
        self.get(&code_key(project, code)).await?.map(entity).transpose()
    }
}
