//! Remembered devices in sign-ins. The token is in the header `X-Service-Device-Token` or one of
//! the header's synonyms. The header works for every way to sign in, and with published SDKs, which
//! can send additional headers.

use flows::App;
use model::project::Project;
use model::user::User;
use model::user::device::{Device, DeviceToken};
use store::user::UserRow;
use store::user::device::device_key;
use store::{Items, Key, keys};
use wire::id::{ProjectId, UserId};

/// The key of the device that a request names, which is read together with the user. `None` if the
/// request does not name a device.
pub(crate) fn key(project: &ProjectId, user: UserId, token: Option<&DeviceToken>) -> Option<Key> {
    token.map(|token| device_key(project, user, token.id))
}

/// The device that a request names, if the device replaces the second factor of `user`. `items`
/// must have been read with [`key`].
pub(crate) fn device(
    app: &App,
    project: &Project,
    user: &User,
    (items, token): (&Items, Option<&DeviceToken>),
) -> Result<Option<Device>, store::Error> {
    let Some(token) = token.filter(|_| user.has_second_factor()) else { return Ok(None) };
    let found = items.read::<Device>(&device_key(&project.id, user.id, token.id))?;
    let (settings, now) = (&project.config.second_factor, app.clock.now());
    let remembered = found.filter(|device| device.has(token) && device.is_remembered(user, settings, now));
    Ok(remembered.map(|device| Device::clone(&device)))
}

/// Reads the device that a request names, if the device replaces the second factor of `user`, who
/// has already been read.
pub(crate) async fn read(app: &App, project: &Project, user: &User, token: Option<&DeviceToken>) -> Result<Option<Device>, store::Error> {
    let Some(token) = token.filter(|_| user.has_second_factor()) else { return Ok(None) };
    let items = app.store.get_many([device_key(&project.id, user.id, token.id)]).await?;
    device(app, project, user, (&items, Some(token)))
}

/// Reads a user, and the device that the request names, in one round trip. Returns the same device
/// as [`device`].
pub(crate) async fn user_and_device(
    app: &App,
    project: &Project,
    id: UserId,
    token: Option<&DeviceToken>,
) -> Result<(Option<UserRow>, Option<Device>), store::Error> {
    let user = keys::user_key(&project.id, id);
    let mut items = app.store.get_many([Some(user.clone()), key(&project.id, id, token)].into_iter().flatten()).await?;
    let Some(row) = items.take(&user).map(UserRow::of).transpose()? else { return Ok((None, None)) };
    let device = device(app, project, &row.user, (&items, token))?;
    Ok((Some(row), device))
}
