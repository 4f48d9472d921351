//! Failed sign-ins in the trail.

use crate::model::id::UserId;
use crate::model::trail::Event;
use crate::store::client::Store;
use crate::store::error::Error;
use crate::store::record;

impl Store {
    /// Counts a wrong password or code in the trail: one entry for each minute, operation and account, or network of the caller where it
    /// is nobody's account. 2 units.
    pub async fn record_failure(&self, user: Option<UserId>, event: Event) -> Result<(), Error> {
        match record::failure(user, event)? {
            Some(write) => self.write_unrecorded(write).await,
            None => Ok(()),
        }
    }
}
