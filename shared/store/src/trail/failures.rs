//! Failed sign-ins in the trail.

use model::trail::Event;
use wire::id::UserId;

use crate::client::Store;
use crate::error::Error;
use crate::record;

impl Store {
    /// Counts a wrong password or code in the trail: one entry per minute, operation, event and
    /// account. If the account does not exist, the caller's IP address (for IPv6, its /64) takes
    /// the place of the account. Costs 2 units.
    pub async fn record_failure(&self, user: Option<UserId>, event: Event) -> Result<(), Error> {
        match record::failure(user, event)? {
            Some(write) => self.write_unrecorded(write).await,
            None => Ok(()),
        }
    }
}
