//! A user's recovery codes. Each recovery code can replace a code from an authenticator app once.

use crypto::password::recovery::{HashedCode, HashedCodes};
use crypto::seal::{Error, SealedText, Sealer};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use wire::entropy::Entropy;
use wire::id::{ProjectId, UserId};

/// A set of recovery codes, without the codes that have been used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecoveryCodes {
    /// The salt and the hashes of the unused codes, sealed for their user. The hashes are sealed
    /// because the codes are short enough to be guessed from their hashes.
    pub hashes: SealedText,
    /// The number of unused codes.
    pub left: usize,
    /// When the set was created.
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub created_at: Timestamp,
}

/// The owner under which the hashes of a user's recovery codes are sealed.
pub fn owner(project: &ProjectId, user: UserId) -> String {
    format!("recovery/{project}/{user}")
}

impl RecoveryCodes {
    /// A set that is created at `now`.
    pub fn seal(sealer: &Sealer, entropy: &Entropy, owner: &str, codes: &HashedCodes, now: Timestamp) -> Result<Self, Error> {
        Ok(Self { hashes: sealer.seal(entropy, owner, &codes.text())?, left: codes.count(), created_at: now })
    }

    /// The hashes of the unused codes.
    pub fn open(&self, sealer: &Sealer, owner: &str) -> Result<HashedCodes, Error> {
        HashedCodes::parse(&sealer.open(owner, &self.hashes)?).ok_or(Error)
    }

    /// The set after a code was used; `None` if the code is not in the set or has already been
    /// used.
    pub fn redeem(&self, sealer: &Sealer, entropy: &Entropy, owner: &str, code: &HashedCode) -> Result<Option<Self>, Error> {
        let left = self.open(sealer, owner)?.without(code);
        left.map(|left| Self::seal(sealer, entropy, owner, &left, self.created_at)).transpose()
    }
}
