//! Remembered devices of users ([`device`](model::user::device)).
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | device | `U#<P>#<user>` | `DEVICE#<uuid v7>` | 1 unit to read with its user, 2 to use in a transaction |
//!
//! The item expires by TTL. A device may stop being remembered earlier, for example after a
//! password change. The user's item shows whether devices are still remembered, so no additional
//! read is needed. If a user has more devices than allowed ([`model::quota`]), only the newest are
//! kept.

use futures_util::future::try_join_all;
use jiff::Timestamp;
use model::place::Place;
use model::trail::Event;
use model::user::device::Device;
use wire::id::{DeviceId, ProjectId, UserId};

use crate::keys::user_key;
use crate::table::{Error, Key, Store, Write, entity, integer, is_made};

/// The key of a device.
pub fn device_key(project: &ProjectId, user: UserId, id: DeviceId) -> Key {
    Key::new(user_key(project, user).pk, format!("DEVICE#{id}"))
}

/// Writes a device that has proved the second factor.
pub fn create(project: &ProjectId, device: &Device) -> Result<Write, Error> {
    let write = Write::create(device_key(project, device.user_id, device.id), device)?.expires(device.expires_at);
    Ok(write.about(device.user_id).tells([Event::DeviceRemembered]))
}

/// Records that a device stands in for the second factor; fails the transaction if the device was
/// forgotten.
pub fn use_device(project: &ProjectId, device: &Device, place: Option<&Place>, now: Timestamp) -> Result<Write, Error> {
    Write::update(device_key(project, device.user_id, device.id), "SET d.last_used_at = :now, d.place = :place")
        .on("attribute_exists(pk)")
        .about(device.user_id)
        .tells([Event::DeviceUsed])
        .value(":now", integer(now.as_millisecond()))
        .entity(":place", &place)
}

impl Store {
    /// Forgets a device; `false` if it does not exist.
    pub async fn forget_device(&self, project: &ProjectId, user: UserId, id: DeviceId) -> Result<bool, Error> {
        let forget = Write::delete(device_key(project, user, id)).on("attribute_exists(pk)").about(user).tells([Event::DeviceForgotten]);
        is_made(self.write(forget).await)
    }

    /// Forgets all devices of a user except the newest `max`. Concurrent requests each count after
    /// writing their own device, so the last one leaves at most `max` devices.
    pub async fn forget_oldest_devices(&self, project: &ProjectId, user: UserId, max: usize) -> Result<(), Error> {
        let devices = self.devices(project, user).await?.into_iter().skip(max);
        let forget = |device: Device| self.write_unrecorded(Write::delete(device_key(project, user, device.id)));
        try_join_all(devices.map(forget)).await.map(drop)
    }

    /// The devices of a user, newest first, including those that are no longer remembered. Costs
    /// one unit for each 4 KB.
    pub async fn devices(&self, project: &ProjectId, user: UserId) -> Result<Vec<Device>, Error> {
        let query = self.query_prefix(user_key(project, user).pk, "DEVICE#").scan_index_forward(false);
        self.query_all(query).await?.into_iter().map(entity).collect()
    }
}
