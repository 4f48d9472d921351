//! Boosts, which let a project send emails faster for some hours.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | boost | `P#<P>` | `BOOST` | 1 unit to read, 1 to write, 2 in a transaction |

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use wire::id::ProjectId;

use crate::table::{Error, Key, Store, Write, entity, integer};

#[derive(Serialize, Deserialize)]
struct Boost {
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    expires_at: Timestamp,
}

fn boost_key(project: &ProjectId) -> Key {
    Key::new(format!("P#{project}"), "BOOST")
}

impl Store {
    /// The time when the project's boost ends, if one is active.
    pub async fn boost(&self, project: &ProjectId, now: Timestamp) -> Result<Option<Timestamp>, Error> {
        let boost: Option<Boost> = self.get(&boost_key(project)).await?.map(entity).transpose()?;
        Ok(boost.map(|boost| boost.expires_at).filter(|end| now < *end))
    }

    /// Starts a boost; `Conflict` if a boost is already active.
    pub async fn begin_boost(&self, project: &ProjectId, expires_at: Timestamp, now: Timestamp) -> Result<(), Error> {
        let boost = Write::put(boost_key(project), &Boost { expires_at })?.on("attribute_not_exists(pk) OR d.expires_at <= :now");
        self.write(boost.value(":now", integer(now.as_millisecond())).expires(expires_at)).await
    }
}
