//! Passkeys: the claims to credential ids, and the challenges of ceremonies. The passkeys
//! themselves are part of the user.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | claim | `K#<P>#<digest of the credential id>` | `CLAIM` | 2 units to write in a transaction |
//! | challenge of a registration | `C#<P>#passkey-registration#<digest of the code>` | `CODE` | 1 unit to write and to read, 2 to redeem in a transaction |
//! | challenge of a sign-in | `C#<P>#passkey-authentication#<digest of the code>` | `CODE` | the same |
//!
//! A claim is written together with the user, so that two users of a project never have the same
//! credential. Signing in does not read the claim, because the authenticator returns the user's id.
//! If a change removes more passkeys than its transaction can hold, some claims are left behind.
//! These claims do no harm: credential ids are random, and the same user can claim them again.
//!
//! Nobody types the code of a challenge, so it is looked up by the whole code, and attempts are not
//! counted.

use crypto::digest::Digest;
use crypto::webauthn::client_data::Ceremony;
use model::code::Code;
use model::passkey::challenge::Challenge;
use model::user::User;
use model::user::passkey::Passkey;
use serde::{Deserialize, Serialize};
use wire::id::{ProjectId, UserId};

use crate::code::redeem_at;
use crate::table::{Error, Key, Store, Write, entity, string};

/// The claim to a credential id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct PasskeyClaim {
    user_id: UserId,
}

/// The condition that a claim is free or belongs to the user `:user`.
const OWN: &str = "attribute_not_exists(pk) OR d.user_id = :user";

/// The key of the claim to a passkey's credential id.
pub(crate) fn passkey_claim_key(project: &ProjectId, passkey: &Passkey) -> Key {
    Key::new(format!("K#{project}#{}", Digest::from_bytes(&passkey.credential_id.0)), "CLAIM")
}

/// The passkeys added by a change, each with the write that claims its credential id.
pub(crate) fn claims(project: &ProjectId, before: &User, after: &User) -> Result<Vec<(Passkey, Write)>, Error> {
    let added = after.passkeys.iter().filter(|passkey| !before.passkeys.iter().any(|old| old.is_same(passkey)));
    let claim = |passkey: &Passkey| {
        let write = Write::put(passkey_claim_key(project, passkey), &PasskeyClaim { user_id: after.id })?;
        Ok((passkey.clone(), write.on(OWN).value(":user", string(after.id.to_string()))))
    };
    added.map(claim).collect()
}

/// Releases the claims of passkeys removed by a change.
pub(crate) fn releases(project: &ProjectId, before: &User, after: &[Passkey]) -> Vec<Write> {
    let removed = before.passkeys.iter().filter(|passkey| !after.iter().any(|new| new.is_same(passkey)));
    let release =
        |passkey: &Passkey| Write::delete(passkey_claim_key(project, passkey)).on(OWN).value(":user", string(before.id.to_string()));
    removed.map(release).collect()
}

/// The key of the challenge with this code.
pub fn challenge_key(project: &ProjectId, ceremony: Ceremony, code: &Code) -> Key {
    let name = match ceremony {
        Ceremony::Registration => "passkey-registration",
        Ceremony::Authentication => "passkey-authentication",
    };
    Key::new(format!("C#{project}#{name}#{}", code.digest()), "CODE")
}

/// Writes a new challenge.
pub fn create_challenge(project: &ProjectId, ceremony: Ceremony, code: &Code, challenge: &Challenge) -> Result<Write, Error> {
    Ok(Write::create(challenge_key(project, ceremony, code), challenge)?.expires(challenge.expires_at))
}

/// Redeems a challenge; only one of several concurrent responses succeeds.
pub fn redeem_challenge(project: &ProjectId, ceremony: Ceremony, code: &Code) -> Write {
    redeem_at(challenge_key(project, ceremony, code))
}

impl Store {
    /// The challenge with this code.
    pub async fn challenge(&self, project: &ProjectId, ceremony: Ceremony, code: &Code) -> Result<Option<Challenge>, Error> {
        self.get(&challenge_key(project, ceremony, code)).await?.map(entity).transpose()
    }
}
