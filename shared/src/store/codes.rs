//! One-time codes.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | code | `C#<P>#<purpose>#<digest of the nonce>` | `CODE` | 1 unit to try, 2 to redeem in a transaction |
//!
//! A code is kept under its nonce, the 39 characters that are not typed: whoever guesses at the typed six tries the same item, so one
//! update counts the attempt, finds the code and gives it, whether the guess was right or wrong. The digest of the whole code is in the
//! item and is compared in constant time.

use jiff::Timestamp;
use subtle::ConstantTimeEq;

use super::{Error, Key, Store, Write, entity, integer, number, string};
use crate::model::code::{Code, Purpose, Rejected, StoredCode};
use crate::model::id::ProjectId;

fn code_key(project: &ProjectId, purpose: Purpose, code: &Code) -> Key {
    Key::new(format!("C#{project}#{}#{}", purpose.name(), code.nonce_digest()), "CODE")
}

/// Writes a new code.
pub fn create(project: &ProjectId, code: &Code, stored: &StoredCode) -> Result<Write, Error> {
    let write = Write::create(code_key(project, stored.purpose, code), stored)?;
    Ok(write.attribute("digest", string(code.digest().as_str())).attribute("attempts", integer(0)).expires(stored.expires_at))
}

/// Redeems a code: of all who try, one write succeeds.
pub fn redeem(project: &ProjectId, purpose: Purpose, code: &Code) -> Write {
    Write::update(code_key(project, purpose, code), "SET d.used = :yes")
        .on("d.used = :no")
        .value(":yes", aws_sdk_dynamodb::types::AttributeValue::Bool(true))
        .value(":no", aws_sdk_dynamodb::types::AttributeValue::Bool(false))
}

impl Store {
    /// What a code of this nonce is for, whatever its typed part, and without counting: it must decide nothing.
    pub async fn code_of_nonce(&self, project: &ProjectId, purpose: Purpose, code: &Code) -> Result<Option<StoredCode>, Error> {
        self.get(&code_key(project, purpose, code)).await?.map(entity).transpose()
    }

    /// Counts an attempt at a code and decides on it, without redeeming it.
    pub async fn try_code(
        &self,
        project: &ProjectId,
        purpose: Purpose,
        code: &Code,
        now: Timestamp,
    ) -> Result<Result<StoredCode, Rejected>, Error> {
        let update =
            Write::update(code_key(project, purpose, code), "ADD attempts :one").on("attribute_exists(pk)").value(":one", integer(1));
        let item = match update.send_returning(&self.client, &self.table).await {
            Ok(item) => item,
            Err(Error::Conflict(_)) => return Ok(Err(Rejected::NotFound)),
            Err(error) => return Err(error),
        };
        let attempts = number(&item, "attempts").unwrap_or(u32::MAX);
        let digest = item.get("digest").and_then(|value| value.as_s().ok()).cloned().unwrap_or_default();
        let right: bool = digest.as_bytes().ct_eq(code.digest().as_str().as_bytes()).into();
        let stored = if right { Some(entity(item)?) } else { None };
        Ok(StoredCode::check(stored, attempts, now))
    }
}
