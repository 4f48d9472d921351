//! A provider's tokens for an account.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | a provider's tokens | `U#<P>#<user>` | `PROVIDER#<provider>#<account>` | 1 unit for each KB to write, 2 in a transaction; 1 for each 4 KB to read |
//!
//! The provider and the account have the same names as in the key of the account's claim
//! ([`account`]).
//!
//! A provider may rotate the refresh token, and revoke all tokens if the same refresh token is used
//! twice (RFC 9700 §4.14), so only one request at a time refreshes the tokens. The refreshing
//! request writes the new tokens only if the access token has not changed in the meantime, so that
//! a newer flow's tokens are kept and deleted tokens do not reappear.

use jiff::Timestamp;
use model::provider::account::ProviderAccount;
use model::provider::registration::Registration;
pub use model::provider::tokens::{NewTokens, ProviderTokens, Report};
use serde_json::json;
use wire::id::{ProjectId, UserId};

use crate::provider::account;
use crate::table::{Error, Key, Label, Store, Write, entity, integer, is_made};

/// The owner name under which an account's tokens are sealed; it includes the registration to which
/// they were issued. Sealed tokens that are copied to another account or attributed to another
/// registration cannot be unsealed.
pub fn owner(project: &ProjectId, account: &ProviderAccount, registration: Option<&Registration>) -> String {
    owner_of(project.as_str(), &account::name(account), registration)
}

fn owner_of(project: &str, account: &str, registration: Option<&Registration>) -> String {
    match registration {
        Some(Registration { issuer, client_id }) => json!(["tokens", project, account, issuer, client_id]).to_string(),
        // Tokens stored by earlier versions.
        None => format!("{project}/{}/tokens", account.replacen('#', "/", 1)),
    }
}

/// Like [`owner`], but from the key of the tokens' item; `None` for any other item.
pub(crate) fn owner_in(key: &Key, registration: Option<&Registration>) -> Option<String> {
    let (project, _) = key.pk.strip_prefix("U#")?.split_once('#')?;
    Some(owner_of(project, key.sk.strip_prefix("PROVIDER#")?, registration))
}

/// Whether this is the key of a tokens' item.
pub(crate) fn is_key(key: &Key) -> bool {
    key.pk.starts_with("U#") && key.sk.starts_with("PROVIDER#")
}

/// The account whose tokens are read or written.
#[derive(Clone, Copy)]
pub struct TokenOwner<'a> {
    /// The project.
    pub project: &'a ProjectId,
    /// The user who has the account.
    pub user: UserId,
    /// The account.
    pub account: &'a ProviderAccount,
}

impl TokenOwner<'_> {
    fn key(self) -> Key {
        tokens_key(self.project, self.user, self.account)
    }

    fn put(self, tokens: &ProviderTokens) -> Result<Write, Error> {
        keep_tokens(self.project, self.user, self.account, tokens)
    }
}

fn tokens_key(project: &ProjectId, user: UserId, account: &ProviderAccount) -> Key {
    Key::new(format!("U#{project}#{user}"), format!("PROVIDER#{}", account::name(account)))
}

/// Stores an account's tokens, and replaces existing tokens without reading them.
pub fn keep_tokens(project: &ProjectId, user: UserId, account: &ProviderAccount, tokens: &ProviderTokens) -> Result<Write, Error> {
    Write::put(tokens_key(project, user, account), tokens)
}

/// Stores `new` for an account whose tokens were read as `old`. The transaction fails with
/// [`Label::Tokens`] if the tokens have changed since `old` was read. The transaction also fails if
/// `new` keeps the old refresh token (`keeps_refresh`) and a request has begun to use that token.
pub fn renew_tokens(
    of: TokenOwner<'_>,
    old: Option<&ProviderTokens>,
    (new, keeps_refresh): (&ProviderTokens, bool),
    now: Timestamp,
) -> Result<Write, Error> {
    let write = match old {
        None => Write::create(of.key(), new)?,
        Some(old) if keeps_refresh => unchanged(of.put(new)?, old, IS_FREE)?.value(":now", integer(now.as_millisecond())),
        Some(old) => unchanged(of.put(new)?, old, "")?,
    };
    Ok(write.labelled(Label::Tokens))
}

/// Deletes an account's tokens, if any.
pub fn drop_tokens(project: &ProjectId, user: UserId, account: &ProviderAccount) -> Write {
    Write::delete(tokens_key(project, user, account))
}

/// The condition that no request is refreshing the tokens at `:now`.
const IS_FREE: &str = " AND (attribute_not_exists(d.refreshing_until) OR d.refreshing_until <= :now)";

/// A write to the tokens, on the condition that they have not changed since `old` was read.
fn unchanged(write: Write, old: &ProviderTokens, condition: &str) -> Result<Write, Error> {
    write.on(format!("d.access = :old{condition}")).entity(":old", &old.access)
}

impl Store {
    /// The stored tokens of a provider account.
    pub async fn provider_tokens(&self, of: TokenOwner<'_>) -> Result<Option<ProviderTokens>, Error> {
        self.get(&of.key()).await?.map(entity).transpose()
    }

    /// Reserves the right to refresh the tokens until `until`; `false` if another request has
    /// reserved this right, or if the tokens have changed since `old` was read.
    pub async fn begin_refresh(&self, of: TokenOwner<'_>, old: &ProviderTokens, now: Timestamp, until: Timestamp) -> Result<bool, Error> {
        let write = Write::update(of.key(), "SET d.refreshing_until = :until")
            .value(":until", integer(until.as_millisecond()))
            .value(":now", integer(now.as_millisecond()));
        is_made(self.write_unrecorded(unchanged(write, old, IS_FREE)?).await)
    }

    /// Gives back the right to refresh. Has no effect if the tokens have changed since `old` was
    /// read.
    pub async fn end_refresh(&self, of: TokenOwner<'_>, old: &ProviderTokens) -> Result<(), Error> {
        let write = Write::update(of.key(), "REMOVE d.refreshing_until");
        is_made(self.write_unrecorded(unchanged(write, old, "")?).await).map(drop)
    }

    /// Records that the provider accepts the access token at `now`. If a caller has reported that
    /// the token fails, the record also resolves this report. Has no effect if the tokens have
    /// changed since `old` was read.
    pub async fn confirm_tokens(
        &self,
        of: TokenOwner<'_>,
        old: &ProviderTokens,
        now: Timestamp,
        report: Option<Report>,
    ) -> Result<(), Error> {
        let write = match report {
            Some(report) => Write::update(of.key(), "SET d.confirmed_at = :now, d.last_report = :report").entity(":report", &report)?,
            None => Write::update(of.key(), "SET d.confirmed_at = :now"),
        };
        let write = write.value(":now", integer(now.as_millisecond()));
        is_made(self.write_unrecorded(unchanged(write, old, "")?).await).map(drop)
    }

    /// Replaces tokens; `false` if the tokens have changed since `old` was read.
    pub async fn replace_tokens(&self, of: TokenOwner<'_>, old: &ProviderTokens, new: &ProviderTokens) -> Result<bool, Error> {
        is_made(self.write_unrecorded(unchanged(of.put(new)?, old, "")?).await)
    }
}
