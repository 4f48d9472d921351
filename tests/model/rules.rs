//! The rules that every scenario must follow.

use stateright::Property;

use crate::explored::{Exploration, State};
use crate::table::{Entity, Table};

pub(crate) fn all() -> Vec<Property<Exploration>> {
    vec![
        Property::always("nothing is redeemed twice", |_, state: &State| !state.past.twice),
        Property::always("no code outlives its credential epoch", |_, state: &State| !state.past.late),
        Property::always("an address belongs to one account, which has it as a channel", |_, state: &State| claims_agree(&state.table)),
        Property::always("a client gets a success if and only if it redeemed something", answers_are_true),
        Property::always("users and sessions are complete", |_, state: &State| {
            state.table.iter().all(|(_, item)| !matches!(item.entity, Entity::Broken))
        }),
        Property::always("no request fails because of concurrent clients or a lost response", |model: &Exploration, state: &State| {
            answers(model, state).all(|answer| answer.is_none_or(|status| status < 500))
        }),
        Property::sometimes("somebody succeeds", |model: &Exploration, state: &State| {
            answers(model, state).flatten().any(|status| status < 300)
        }),
    ]
}

/// The final status of each client; `None` for a client that is not done yet.
pub(crate) fn answers(model: &Exploration, state: &State) -> impl Iterator<Item = Option<u16>> {
    let clients = state.places.iter().zip(&model.scenario.clients);
    clients.map(|(place, client)| place.told(client.tasks.len()).map(|answer| answer.status))
}

/// Whether all clients are done.
pub(crate) fn is_over(model: &Exploration, state: &State) -> bool {
    answers(model, state).all(|answer| answer.is_some())
}

/// How many clients succeeded.
pub(crate) fn successes(model: &Exploration, state: &State) -> usize {
    answers(model, state).flatten().filter(|status| *status < 300).count()
}

/// Whether there is exactly one claim for each channel that can sign in, with the same user,
/// verification and epoch.
fn claims_agree(table: &Table) -> bool {
    let claims = table.iter().filter_map(|(key, item)| match &item.entity {
        Entity::Claim(claim) => {
            Some((key.0.rsplit('#').next().unwrap_or_default().to_owned(), claim.user_id, claim.is_verified, claim.epoch))
        }
        _ => None,
    });
    let channels = table.users().flat_map(|user| {
        let own = user.channels.iter().filter(|channel| channel.signs_in());
        own.map(|channel| (channel.value.to_string(), user.id, channel.is_proved(), user.credential_epoch))
    });
    let (mut claims, mut channels): (Vec<_>, Vec<_>) = (claims.collect(), channels.collect());
    claims.sort();
    channels.sort();
    claims == channels
}

/// Whether the responses match the effects. A client that redeems an item succeeds if and only if
/// the item has been redeemed, and no other client redeems anything.
fn answers_are_true(model: &Exploration, state: &State) -> bool {
    let clients = answers(model, state).zip(&model.scenario.clients).zip(&state.past.redeemed);
    clients.into_iter().all(|((answer, client), redeemed)| match answer {
        _ if !client.redeems => *redeemed == 0,
        Some(200..=299) => *redeemed == 1,
        Some(_) => *redeemed == 0,
        None => *redeemed <= 1,
    })
}
