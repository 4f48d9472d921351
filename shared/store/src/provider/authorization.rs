//! What an OAuth flow remembers: while the user is at the provider, and then until the app takes its code.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | authorization | `S#<digest of the inner state>` | `STATE` | 1 unit for each KB to write, and again to take |
//! | authorization code | `A#<P>#<digest of the code>` | `CODE` | 2 units to write and 2 to redeem, both in transactions; 2 more each time for the session of a link or an upgrade |
//! | a provider's tokens | `U#<P>#<user>` | `PROVIDER#<provider>#<account>` | 2 units for each KB to write, 1 for each 4 KB to read |
//!
//! A state is taken and a code is redeemed by one conditional update: of many who try, one succeeds. A code that was
//! redeemed is kept for a while with the session that it gave, which ends when the code comes a second time (RFC 6749 §4.1.2).

use crypto::digest::Digest;
use crypto::seal::Sealed;
use jiff::{SignedDuration, Timestamp};
use model::project::redirect::RedirectUrl;
use model::provider::authorization::Authorization;
use model::provider::profile::Profile;
use model::user::ProviderAccount;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use wire::clock::after;
use wire::id::{ProjectId, SessionId, UserId};

use crate::client::Store;
use crate::error::Error;
use crate::item::{Key, entity, string};
use crate::label::Label;
use crate::write::Write;

/// How long an app may take to exchange a code (RFC 6749 §4.1.2 has ten minutes at most).
pub const CODE_LIFE: SignedDuration = SignedDuration::from_mins(5);
/// How long a redeemed code is remembered.
const CODE_MEMORY: SignedDuration = SignedDuration::from_hours(24);

/// What a code is good for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuthorizationCode {
    pub user_id: UserId,
    /// The user's credential epoch when the code was made.
    #[serde(default)]
    pub epoch: u64,
    /// The session that the flow was begun in, when it links an account or upgrades its user: the code is good while that lives. Absent on
    /// codes of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begun_in: Option<SessionId>,
    /// The one that the flow began with.
    pub redirect_uri: RedirectUrl,
    /// The app's PKCE challenge, method S256.
    pub code_challenge: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_callback_redirect_url: Option<RedirectUrl>,
    pub is_new_user: bool,
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub expires_at: Timestamp,
    /// What is done to the user when the code is redeemed, and not before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<Pending>,
    /// The session that it gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
}

/// A change of the user whose token the flow began with.
///
/// Whoever comes back from the provider may be somebody else, led through a flow that another began: the account would then be given to
/// the one who began it (RFC 9700 §4.7). Only the app that exchanges the code proves, by its verifier, that both are the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pending {
    pub change: PendingChange,
    pub account: ProviderAccount,
    pub tokens: ProviderTokens,
    pub profile: Profile,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PendingChange {
    /// The account becomes one more way to sign in.
    Link,
    /// The anonymous user becomes an ordinary one.
    Upgrade { email_signs_in: bool },
}

/// A provider's tokens for an account, sealed for [`owner`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProviderTokens {
    pub access: Sealed,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh: Option<Sealed>,
    /// When the access token ends, if the provider says so.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "jiff::fmt::serde::timestamp::millisecond::optional")]
    pub expires_at: Option<Timestamp>,
    /// What the tokens are good for, in the provider's words, separated by spaces.
    pub scope: String,
}

/// What the tokens of an account are sealed for: copied to another account they do not open.
pub fn owner(project: &ProjectId, account: &ProviderAccount) -> String {
    owner_of(project.as_str(), &account.provider_id, &account.account_id)
}

fn owner_of(project: &str, provider_id: &str, account_id: &str) -> String {
    format!("{project}/{provider_id}/{account_id}/tokens")
}

/// The same by the key of the tokens; none of any other key.
pub(crate) fn owner_by_key(key: &Key) -> Option<String> {
    let (project, _) = key.pk.strip_prefix("U#")?.split_once('#')?;
    let (provider_id, account_id) = key.sk.strip_prefix("PROVIDER#")?.split_once('#')?;
    Some(owner_of(project, provider_id, account_id))
}

fn state_key(state: &SecretString) -> Key {
    Key::new(format!("S#{}", Digest::of(state.expose_secret())), "STATE")
}

pub fn code_key(project: &ProjectId, code: &SecretString) -> Key {
    Key::new(format!("A#{project}#{}", Digest::of(code.expose_secret())), "CODE")
}

fn tokens_key(project: &ProjectId, user: UserId, account: &ProviderAccount) -> Key {
    Key::new(format!("U#{project}#{user}"), format!("PROVIDER#{}#{}", account.provider_id, account.account_id))
}

/// Writes a new code.
pub fn create_code(project: &ProjectId, code: &SecretString, stored: &AuthorizationCode) -> Result<Write, Error> {
    Ok(Write::create(code_key(project, code), stored)?.expires(after(stored.expires_at, CODE_MEMORY)))
}

/// Redeems a code for a session.
pub fn redeem_code(project: &ProjectId, code: &SecretString, session: SessionId) -> Write {
    Write::update(code_key(project, code), "SET d.session_id = :session")
        .labelled(Label::Code)
        .on("attribute_exists(pk) AND attribute_not_exists(d.session_id)")
        .value(":session", string(session.to_string()))
}

/// Keeps the tokens of an account, in place of any there were.
pub fn keep_tokens(project: &ProjectId, user: UserId, account: &ProviderAccount, tokens: &ProviderTokens) -> Result<Write, Error> {
    Write::put(tokens_key(project, user, account), tokens)
}

/// Forgets the tokens of an account, if there are any.
pub fn drop_tokens(project: &ProjectId, user: UserId, account: &ProviderAccount) -> Write {
    Write::delete(tokens_key(project, user, account))
}

impl Store {
    /// Remembers an authorization under its inner state.
    pub async fn begin_authorization(&self, state: &SecretString, authorization: &Authorization) -> Result<(), Error> {
        self.write_unrecorded(Write::create(state_key(state), authorization)?.expires(authorization.expires_at)).await
    }

    /// Takes an authorization: nobody takes it again. It is marked rather than deleted, so that a call whose answer was lost can be
    /// made again by the client of the table.
    pub async fn take_authorization(&self, state: &SecretString) -> Result<Option<Authorization>, Error> {
        let update = Write::update(state_key(state), "SET taken_by = :mark")
            .on("attribute_exists(pk) AND (attribute_not_exists(taken_by) OR taken_by = :mark)")
            .value(":mark", string(self.entropy.uuid().to_string()));
        match update.send_returning(&self.client, &self.table).await {
            Ok(item) => entity(item).map(Some),
            Err(Error::Conflict(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Ends a code that nobody has redeemed. One that somebody has stays, so that its coming again is seen.
    pub async fn end_code(&self, project: &ProjectId, code: &SecretString) -> Result<(), Error> {
        let delete = Write::delete(code_key(project, code)).on("attribute_not_exists(d.session_id)");
        match self.write_unrecorded(delete).await {
            Err(Error::Conflict(_)) => Ok(()),
            done => done,
        }
    }

    pub async fn authorization_code(&self, project: &ProjectId, code: &SecretString) -> Result<Option<AuthorizationCode>, Error> {
        self.get(&code_key(project, code)).await?.map(entity).transpose()
    }

    pub async fn provider_tokens(
        &self,
        project: &ProjectId,
        user: UserId,
        account: &ProviderAccount,
    ) -> Result<Option<ProviderTokens>, Error> {
        self.get(&tokens_key(project, user, account)).await?.map(entity).transpose()
    }
}
