//! One-time codes.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | code | `C#<P>#<purpose>#<digest of the nonce>` | `CODE` | 1 unit to try, 2 to redeem in a transaction |
//! | code of an invitation | `C#<P>#team-invitation#<digest of the nonce>` | `CODE` | 1 unit to read, 2 to redeem in a transaction |
//! | a caller's attempts at the code of an invitation | the same | `TRIES#<caller>` | 1 unit for each attempt |
//! | code of a sign-in awaiting its second factor | `C#<P>#mfa#<digest of the nonce>` | `CODE` | 1 unit to try, 2 to redeem in a transaction |
//! | code of an authenticator app during setup | `C#<P>#authenticator#<digest of the nonce>` | `CODE` | 1 unit to try, 2 to redeem in a transaction |
//!
//! A code is stored under its nonce, the 39 characters that nobody types. All guesses at the six
//! typed characters therefore access the same item: one update counts the attempt and returns the
//! code, whether or not the guess is right. The item holds the digest of the whole code, which is
//! compared in constant time. People other than the invited person may see the link with an
//! invitation's code, so attempts at the code are counted per caller. Otherwise, a stranger could
//! use up the invited person's attempts. Only attempts at existing codes are counted; for
//! invitations, `CodeAccess` first checks that the code exists.

use jiff::Timestamp;
use model::code::{Code, CodeRefusal, Purpose, StoredCode};
use model::limit::Subject;
use model::sign_in::second_factor::MfaAttempt;
use model::trail::Event;
use model::user::enrolment::Enrolment;
use serde::Serialize;
use serde::de::DeserializeOwned;
use wire::id::ProjectId;

use crate::table::{self, BATCH, CARRIED, DIGEST, Error, Item, Key, Label, Store, Write, entity, integer, is_of_digest, number, string};

fn code_key(project: &ProjectId, purpose: &str, code: &Code) -> Key {
    Key::new(format!("C#{project}#{purpose}#{}", code.nonce_digest()), "CODE")
}

/// The purpose that marks sign-ins awaiting their second factor in the keys of codes.
pub const MFA: &str = "mfa";
const ENROLMENT: &str = "authenticator";

pub(crate) fn create_at(key: Key, code: &Code, stored: &impl Serialize, expires_at: Timestamp) -> Result<Write, Error> {
    let write = Write::create(key, stored)?;
    Ok(write.attribute(DIGEST, string(code.digest().as_str())).attribute("attempts", integer(0)).expires(expires_at))
}

/// Marks the item at `key` as used; only one of several concurrent attempts succeeds.
pub(crate) fn redeem_at(key: Key) -> Write {
    redeem_by(key, "SET d.used = :yes")
}

fn redeem_by(key: Key, change: &'static str) -> Write {
    Write::update(key, change)
        .labelled(Label::Code)
        .on("d.used = :no")
        .value(":yes", aws_sdk_dynamodb::types::AttributeValue::Bool(true))
        .value(":no", aws_sdk_dynamodb::types::AttributeValue::Bool(false))
}

/// Writes a new code.
pub fn create(project: &ProjectId, code: &Code, stored: &StoredCode) -> Result<Write, Error> {
    let mut write = create_at(code_key(project, stored.purpose.name(), code), code, stored, stored.expires_at)?;
    write.can_carry = true;
    Ok(write)
}

/// Redeems a code; only one of several concurrent attempts succeeds.
pub fn redeem(project: &ProjectId, purpose: Purpose, code: &Code) -> Write {
    let tells = (purpose == Purpose::ResetPassword).then_some(Event::PasswordReset);
    let mut write = redeem_at(code_key(project, purpose.name(), code)).tells(tells);
    write.can_carry = true;
    write
}

/// Writes a sign-in that awaits its second factor.
pub fn create_attempt(project: &ProjectId, code: &Code, attempt: &MfaAttempt) -> Result<Write, Error> {
    let write = create_at(code_key(project, MFA, code), code, attempt, attempt.expires_at)?;
    Ok(write.about(attempt.user_id).tells([Event::SecondFactorAsked]).proved_by(&attempt.amr))
}

/// Completes a sign-in that awaits its second factor. The provider account to add and the
/// provider's tokens are removed from the item. Only one of several concurrent attempts succeeds.
pub fn redeem_attempt(project: &ProjectId, code: &Code) -> Write {
    redeem_by(code_key(project, MFA, code), "SET d.used = :yes REMOVE d.to_attach, d.new_tokens")
}

/// Writes an authenticator app during setup.
pub fn create_enrolment(project: &ProjectId, code: &Code, enrolment: &Enrolment) -> Result<Write, Error> {
    Ok(create_at(code_key(project, ENROLMENT, code), code, enrolment, enrolment.expires_at)?.about(enrolment.user_id))
}

/// Redeems the code of an authenticator app during setup; only one of several concurrent attempts
/// succeeds.
pub fn redeem_enrolment(project: &ProjectId, code: &Code) -> Write {
    redeem_at(code_key(project, ENROLMENT, code))
}

impl Store {
    /// The entity stored under a code's nonce, even if the typed part of the code is wrong. Never
    /// base a decision on this entity, because reading it does not count as an attempt.
    pub async fn code_of_nonce<T: DeserializeOwned>(&self, project: &ProjectId, kind: &str, code: &Code) -> Result<Option<T>, Error> {
        self.get(&code_key(project, kind, code)).await?.map(entity).transpose()
    }

    /// The first of `projects` that has a code with this nonce, even if the typed part of the code
    /// is wrong. The search costs one unit for each project. As with [`Self::code_of_nonce`], never
    /// base a decision on the result.
    pub async fn project_of_code(&self, projects: &[ProjectId], purpose: Purpose, code: &Code) -> Result<Option<ProjectId>, Error> {
        for some in projects.chunks(BATCH) {
            let key = |project: &ProjectId| code_key(project, purpose.name(), code);
            let items = self.get_many(some.iter().map(key)).await?;
            if let Some(project) = some.iter().find(|project| items.get(&key(project)).is_some()) {
                return Ok(Some(project.clone()));
            }
        }
        Ok(None)
    }

    /// Counts an attempt, and checks the code without redeeming it.
    pub async fn try_code(
        &self,
        project: &ProjectId,
        purpose: Purpose,
        code: &Code,
        now: Timestamp,
    ) -> Result<Result<StoredCode, CodeRefusal>, Error> {
        let (stored, attempts) = self.try_at(code_key(project, purpose.name(), code), code).await?;
        Ok(StoredCode::check(stored, attempts, now))
    }

    /// Counts an attempt at the code of a sign-in awaiting its second factor, and checks the code
    /// without redeeming it.
    pub async fn try_attempt(&self, project: &ProjectId, code: &Code, now: Timestamp) -> Result<Result<MfaAttempt, CodeRefusal>, Error> {
        let (stored, attempts) = self.try_at(code_key(project, MFA, code), code).await?;
        Ok(MfaAttempt::check(stored, attempts, now))
    }

    /// Counts an attempt at the code of an authenticator app during setup, and checks the code
    /// without redeeming it.
    pub async fn try_enrolment(&self, project: &ProjectId, code: &Code, now: Timestamp) -> Result<Result<Enrolment, CodeRefusal>, Error> {
        let (stored, attempts) = self.try_at(code_key(project, ENROLMENT, code), code).await?;
        Ok(Enrolment::check(stored, attempts, now))
    }

    /// Counts an attempt separately for each caller, because several callers may know the nonce and
    /// must not use up each other's attempts. Returns the stored entity if the code is right, and
    /// the caller's number of attempts. The attempt is counted even if the code does not exist, so
    /// check first that it exists; otherwise, made-up codes would create items.
    pub(crate) async fn try_code_as<T: DeserializeOwned>(
        &self,
        project: &ProjectId,
        kind: &str,
        code: &Code,
        caller: &Subject,
        forgotten_at: Timestamp,
    ) -> Result<(Option<T>, u32), Error> {
        let key = code_key(project, kind, code);
        let attempts = Write::update(Key::new(&key.pk, format!("TRIES#{caller}")), "SET #ttl = :ttl ADD attempts :one")
            .name("#ttl", table::TTL)
            .value(":ttl", integer(forgotten_at.as_second()))
            .value(":one", integer(1));
        let (item, attempts) = tokio::try_join!(self.get(&key), attempts.send_returning(&self.client, &self.table))?;
        let stored = item.map_or(Ok(None), |item| if_right(item, code))?;
        Ok((stored, number(&attempts, "attempts").unwrap_or(u32::MAX)))
    }

    /// Counts an attempt. Returns the stored entity if the code is right, and the number of
    /// attempts; `(None, 0)` if no code has this nonce.
    async fn try_at<T: DeserializeOwned>(&self, key: Key, code: &Code) -> Result<(Option<T>, u32), Error> {
        let update = Write::update(key, format!("ADD attempts :one REMOVE {CARRIED}")).on("attribute_exists(pk)").value(":one", integer(1));
        let item = match update.send_returning(&self.client, &self.table).await {
            Ok(item) => item,
            Err(Error::Conflict(_)) => return Ok((None, 0)),
            Err(error) => return Err(error),
        };
        let attempts = number(&item, "attempts").unwrap_or(u32::MAX);
        Ok((if_right(item, code)?, attempts))
    }
}

/// The entity stored under a code's nonce, if the whole code is right.
fn if_right<T: DeserializeOwned>(item: Item, code: &Code) -> Result<Option<T>, Error> {
    if is_of_digest(&item, &code.digest()) { entity(item).map(Some) } else { Ok(None) }
}
