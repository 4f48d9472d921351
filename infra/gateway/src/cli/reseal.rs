//! `gateway reseal`: seals with the current deployment secret what is sealed with the previous one, before that one is forgotten.
//!
//! It may be stopped at any moment and started again: what is sealed with the current secret is left alone. Requests may go on meanwhile, as
//! long as everything that answers them has the current secret.

use anyhow::ensure;
use futures_util::{StreamExt as _, TryStreamExt as _};
use shared::crypto::trail_keys::TrailKeys;
use shared::store::Item;
use shared::store::reseal::Resealed;

use super::Tools;
use super::transfer::bar;

/// How many items are looked at at once.
const PARALLEL: usize = 32;

pub(super) async fn run(tools: &Tools) -> anyhow::Result<()> {
    let keys = TrailKeys::new(&tools.secret);
    let bar = bar("looked at", tools.store.estimate().await?, 0);
    let (mut all, mut after) = (Resealed::default(), None);
    loop {
        let (items, next) = tools.store.items(after).await?;
        let items = futures_util::stream::iter(items.into_iter().map(|item| async {
            let resealed = renewed(tools, &keys, item).await;
            bar.inc(1);
            resealed
        }));
        all = items.buffer_unordered(PARALLEL).try_fold(all, |all, resealed| async { Ok(all.and(resealed)) }).await?;
        after = next;
        if after.is_none() {
            break;
        }
    }
    bar.finish_and_clear();
    let Resealed { anew, current, lost } = all;
    println!("Sealed anew: {anew}; sealed with the current secret already: {current}");
    let first = lost.first().map(String::as_str).unwrap_or_default();
    ensure!(lost.is_empty(), "{} sealed values open with neither secret, as that of {first}; they were left as they are", lost.len());
    Ok(())
}

/// Seals an item anew, or authenticates it anew when it is a link of a trail.
async fn renewed(tools: &Tools, keys: &TrailKeys, item: Item) -> Result<Resealed, shared::store::Error> {
    Ok(tools.store.authenticate_anew(keys, &item).await?.and(tools.store.reseal(&tools.sealer, item).await?))
}
