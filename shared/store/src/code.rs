//! One-time codes.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | code | `C#<P>#<purpose>#<digest of the nonce>` | `CODE` | 1 unit to try, 2 to redeem in a transaction |
//! | code of an invitation | `C#<P>#team-invitation#<digest of the nonce>` | `CODE` | ½ unit to try, 2 to redeem in a transaction |
//! | tries of a caller at it | the same | `TRIES#<caller>` | 1 unit for each |
//! | attempt code of a second factor | `C#<P>#mfa#<digest of the nonce>` | `CODE` | the same |
//!
//! A code is kept under its nonce, the 39 characters that are not typed: whoever guesses at the typed six tries the same item, so one
//! update counts the attempt, finds the code and gives it, whether the guess was right or wrong. The digest of the whole code is in the
//! item and is compared in constant time. The code of an invitation travels in links that others may see, so its attempts are counted for
//! each caller: otherwise a stranger could use up those of the invited. They are counted for codes that there are: see
//! [`CodeAccess`](api::product::code_access::CodeAccess).

use jiff::Timestamp;
use model::code::{Code, Purpose, Rejected, StoredCode};
use model::limit::Subject;
use model::trail::Event;
use model::user::second_factor::MfaAttempt;
use serde::Serialize;
use serde::de::DeserializeOwned;
use subtle::ConstantTimeEq;
use wire::id::ProjectId;

use crate::client::Store;
use crate::error::Error;
use crate::item::{Item, Key, entity, integer, number, string};
use crate::label::Label;
use crate::table;
use crate::write::Write;

fn code_key(project: &ProjectId, purpose: &str, code: &Code) -> Key {
    Key::new(format!("C#{project}#{purpose}#{}", code.nonce_digest()), "CODE")
}

/// What is in the key of attempt codes in place of a purpose.
pub const MFA: &str = "mfa";

pub(crate) fn create_at(key: Key, code: &Code, stored: &impl Serialize, expires_at: Timestamp) -> Result<Write, Error> {
    let write = Write::create(key, stored)?;
    Ok(write.attribute("digest", string(code.digest().as_str())).attribute("attempts", integer(0)).expires(expires_at))
}

pub(crate) fn redeem_at(key: Key) -> Write {
    Write::update(key, "SET d.used = :yes")
        .labelled(Label::Code)
        .on("d.used = :no")
        .value(":yes", aws_sdk_dynamodb::types::AttributeValue::Bool(true))
        .value(":no", aws_sdk_dynamodb::types::AttributeValue::Bool(false))
}

/// Writes a new code.
pub fn create(project: &ProjectId, code: &Code, stored: &StoredCode) -> Result<Write, Error> {
    create_at(code_key(project, stored.purpose.name(), code), code, stored, stored.expires_at)
}

/// Redeems a code: of all who try, one write succeeds.
pub fn redeem(project: &ProjectId, purpose: Purpose, code: &Code) -> Write {
    let tells = (purpose == Purpose::ResetPassword).then_some(Event::PasswordReset);
    redeem_at(code_key(project, purpose.name(), code)).tells(tells)
}

/// Writes a sign-in that waits for its second factor.
pub fn create_attempt(project: &ProjectId, code: &Code, attempt: &MfaAttempt) -> Result<Write, Error> {
    let write = create_at(code_key(project, MFA, code), code, attempt, attempt.expires_at)?;
    Ok(write.about(attempt.user_id).tells([Event::SecondFactorAsked]).proved_by(&attempt.amr))
}

/// Ends the wait for a second factor: of all who try, one write succeeds.
pub fn redeem_attempt(project: &ProjectId, code: &Code) -> Write {
    redeem_at(code_key(project, MFA, code))
}

impl Store {
    /// What a code of this nonce is for, whatever its typed part, and without counting: it must decide nothing.
    pub async fn code_of_nonce<T: DeserializeOwned>(&self, project: &ProjectId, kind: &str, code: &Code) -> Result<Option<T>, Error> {
        self.get(&code_key(project, kind, code)).await?.map(entity).transpose()
    }

    /// Counts an attempt at a code and decides on it, without redeeming it.
    pub async fn try_code(
        &self,
        project: &ProjectId,
        purpose: Purpose,
        code: &Code,
        now: Timestamp,
    ) -> Result<Result<StoredCode, Rejected>, Error> {
        let (stored, attempts) = self.try_at(code_key(project, purpose.name(), code), code).await?;
        Ok(StoredCode::check(stored, attempts, now))
    }

    /// Counts an attempt at an attempt code and decides on it, without redeeming it.
    pub async fn try_attempt(&self, project: &ProjectId, code: &Code, now: Timestamp) -> Result<Result<MfaAttempt, Rejected>, Error> {
        let (stored, attempts) = self.try_at(code_key(project, MFA, code), code).await?;
        Ok(MfaAttempt::check(stored, attempts, now))
    }

    /// Counts an attempt by one of many who may know the code, and gives what is stored if it is
    /// right, with the number of the caller's attempts: nobody uses up those of another. It writes an item for a code that nobody has made,
    /// too: ask first.
    pub(crate) async fn try_code_as<T: DeserializeOwned>(
        &self,
        project: &ProjectId,
        kind: &str,
        code: &Code,
        caller: &Subject,
        forgotten_at: Timestamp,
    ) -> Result<(Option<T>, u32), Error> {
        let key = code_key(project, kind, code);
        let tries = Write::update(Key::new(&key.pk, format!("TRIES#{caller}")), "SET #ttl = :ttl ADD attempts :one")
            .name("#ttl", table::TTL)
            .value(":ttl", integer(forgotten_at.as_second()))
            .value(":one", integer(1));
        let (item, tries) = tokio::try_join!(self.get(&key), tries.send_returning(&self.client, &self.table))?;
        let stored = item.map_or(Ok(None), |item| if_right(item, code))?;
        Ok((stored, number(&tries, "attempts").unwrap_or(u32::MAX)))
    }

    /// Counts an attempt, and gives what is stored if the code is right, with the number of attempts.
    async fn try_at<T: DeserializeOwned>(&self, key: Key, code: &Code) -> Result<(Option<T>, u32), Error> {
        let update = Write::update(key, "ADD attempts :one").on("attribute_exists(pk)").value(":one", integer(1));
        let item = match update.send_returning(&self.client, &self.table).await {
            Ok(item) => item,
            Err(Error::Conflict(_)) => return Ok((None, 0)),
            Err(error) => return Err(error),
        };
        let attempts = number(&item, "attempts").unwrap_or(u32::MAX);
        Ok((if_right(item, code)?, attempts))
    }
}

/// What is stored under the nonce of a code, if all of the code is right.
fn if_right<T: DeserializeOwned>(item: Item, code: &Code) -> Result<Option<T>, Error> {
    let digest = item.get("digest").and_then(|value| value.as_s().ok()).cloned().unwrap_or_default();
    let right: bool = digest.as_bytes().ct_eq(code.digest().as_str().as_bytes()).into();
    if right { entity(item).map(Some) } else { Ok(None) }
}
