//! Wrong passwords, codes and passkey responses, and rejected sign-ups, in the trail.

use model::trail::Event;
use wire::id::UserId;

use crate::table::{Error, Store, Write, number};
use crate::trail::record;

impl Store {
    /// Counts a wrong password, code or passkey response in the trail. There is one entry for each
    /// minute, operation, event and account. If there is no account, the caller's IP address (for
    /// IPv6, its /64) is used instead. Costs 1 unit, or 2 if there is an account.
    pub async fn record_failure(&self, user: Option<UserId>, event: Event) -> Result<(), Error> {
        match record::failure(user, event)? {
            Some(write) => self.write_unrecorded(write).await,
            None => Ok(()),
        }
    }

    /// The sign-up of the current request, if the project's rules rejected the sign-up.
    pub fn rejection(&self) -> Result<Option<Rejection>, Error> {
        Ok(record::rejection()?.map(|(name, write)| Rejection { name, write }))
    }

    /// Counts a rejected sign-up, and returns the count of its entry. There is one entry for each
    /// minute, operation and combination of rules. Costs 1 unit.
    pub async fn count_rejection(&self, rejection: Rejection) -> Result<u64, Error> {
        let item = self.write_unrecorded_returning(rejection.write).await?;
        Ok(number(&item, "n").unwrap_or_default())
    }
}

/// A sign-up that was rejected.
#[derive(Debug)]
pub struct Rejection {
    /// The name of the entry that counts the sign-up, unique among all projects.
    pub name: String,
    write: Write,
}
