//! The events and targets that the trail records for a change to a user.

use crate::email::Email;
use crate::notice::change::changes;
use crate::trail::{Event, Target, TargetKind};
use crate::user::User;

/// The events that the trail records for a change to a user.
pub fn events(before: &User, after: &User) -> Vec<Event> {
    let is_verified = |user: &User, email: &Email| user.channel_of(email).is_some_and(|channel| channel.is_verified);
    let verifies = after.channels.iter().any(|channel| channel.is_verified && !is_verified(before, &channel.value));
    let restriction = match (&before.restriction, &after.restriction) {
        (None, Some(_)) => Some(Event::Restricted),
        (Some(_), None) => Some(Event::Unrestricted),
        _ => None,
    };
    let ends = after.session_epoch != before.session_epoch;
    let mut events: Vec<Event> = changes(before, after).into_iter().map(|change| change.kind.into()).collect();
    let verified = (verifies && !events.contains(&Event::AddressVerified)).then_some(Event::AddressVerified);
    events.extend([verified, restriction, ends.then_some(Event::SessionsEnded)].into_iter().flatten());
    events
}

/// The addresses, provider accounts, passkeys and authenticator apps that a change added.
pub fn additions(before: &User, after: &User) -> Vec<Target> {
    let channels = after.channels.iter().filter(|channel| before.channel(channel.id).is_none());
    let channels = channels.map(|channel| Target::new(TargetKind::ContactChannel, channel.id));
    let accounts = after.provider_accounts.iter().filter(|account| before.provider_accounts.iter().all(|old| old.id != account.id));
    let accounts = accounts.map(|account| Target::new(TargetKind::ProviderAccount, account.id));
    let passkeys = after.passkeys.iter().filter(|passkey| before.passkey(passkey.id).is_none());
    let passkeys = passkeys.map(|passkey| Target::new(TargetKind::Passkey, passkey.id));
    let apps = after.apps().filter(|app| before.apps().all(|old| old.id != app.id));
    channels.chain(accounts).chain(passkeys).chain(apps.map(|app| Target::new(TargetKind::Authenticator, app.id))).collect()
}
