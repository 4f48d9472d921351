//! A user's passkeys: the effects of adding, renaming, using and removing them.

use jiff::Timestamp;
use wire::id::PasskeyId;

use crate::user::User;
use crate::user::passkey::{Assertion, MAX_PASSKEYS, Passkey, PasskeyName, Refusal};

impl User {
    /// The passkey with this id.
    pub fn passkey(&self, id: PasskeyId) -> Option<&Passkey> {
        self.passkeys.iter().find(|passkey| passkey.id == id)
    }

    /// The passkey with this credential id.
    pub fn passkey_of(&self, credential_id: &[u8]) -> Option<&Passkey> {
        self.passkeys.iter().find(|passkey| passkey.credential_id.0 == credential_id)
    }

    /// Adds a passkey.
    pub fn add_passkey(&mut self, passkey: Passkey) -> Result<(), Refusal> {
        if self.passkeys.iter().any(|own| own.is_same(&passkey)) {
            return Err(Refusal::Duplicate);
        }
        if self.passkeys.len() >= MAX_PASSKEYS {
            return Err(Refusal::TooMany);
        }
        self.passkeys.push(passkey);
        Ok(())
    }

    /// Renames a passkey.
    pub fn rename_passkey(&mut self, id: PasskeyId, name: &PasskeyName) -> Result<(), Refusal> {
        let passkey = self.passkeys.iter_mut().find(|passkey| passkey.id == id).ok_or(Refusal::NotFound)?;
        passkey.name.clone_from(&name.0);
        Ok(())
    }

    /// Removes a passkey. All codes created so far become invalid, as whenever a user loses a way
    /// to sign in.
    pub fn remove_passkey(&mut self, id: PasskeyId) -> Result<(), Refusal> {
        self.passkey(id).ok_or(Refusal::NotFound)?;
        self.passkeys.retain(|passkey| passkey.id != id);
        self.raise_epoch();
        Ok(())
    }

    /// Removes all passkeys.
    pub fn remove_passkeys(&mut self) {
        if !self.passkeys.is_empty() {
            self.passkeys.clear();
            self.raise_epoch();
        }
    }

    /// Records the use of a passkey. If the signature counter suggests that the authenticator was
    /// copied, only this suspicion is recorded, and the use is refused.
    pub fn use_passkey(&mut self, assertion: &Assertion, now: Timestamp) -> Result<(), Refusal> {
        let passkey = self.passkeys.iter_mut().find(|passkey| passkey.credential_id == assertion.credential_id);
        let passkey = passkey.ok_or(Refusal::NotFound)?;
        if passkey.is_cloned_by(assertion.sign_count) {
            passkey.clone_suspected_at.get_or_insert(now);
            return Err(Refusal::Cloned);
        }
        passkey.sign_count = assertion.sign_count;
        passkey.is_backup_eligible = assertion.is_backup_eligible;
        passkey.is_backed_up = assertion.is_backed_up;
        passkey.last_used_at = Some(now);
        Ok(())
    }
}
