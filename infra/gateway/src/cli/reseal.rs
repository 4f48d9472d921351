//! `gateway reseal`: seals with the current deployment secret what is sealed with the previous one, before that one is forgotten, and
//! authenticates the links of trails with it.
//!
//! It may be stopped at any moment and started again: what is of the current secret is left alone. Requests may go on meanwhile, as long as
//! everything that answers them has the current secret.

use anyhow::ensure;
use crypto::trail_keys::TrailKeys;
use futures_util::{StreamExt as _, TryStreamExt as _};
use store::Item;
use store::reseal::Resealed;

use super::tools::Tools;
use super::transfer::bar;
use crate::say::say;

/// How many items are looked at at once.
const PARALLEL: usize = 32;

pub(super) async fn run(tools: &Tools) -> anyhow::Result<()> {
    let bar = bar("looked at", tools.store.estimate().await?, 0);
    let keys = TrailKeys::new(&tools.secret);
    let (mut sealed, mut links, mut after) = (Resealed::default(), Resealed::default(), None);
    loop {
        let (items, next) = tools.store.items(after).await?;
        let items = futures_util::stream::iter(items.into_iter().map(|item| async {
            let renewed = renew(tools, &keys, item).await;
            bar.inc(1);
            renewed
        }));
        let both = items.buffer_unordered(PARALLEL);
        (sealed, links) = both.try_fold((sealed, links), |all, one| async { Ok((all.0.and(one.0), all.1.and(one.1))) }).await?;
        after = next;
        if after.is_none() {
            break;
        }
    }
    bar.finish_and_clear();
    say!("Sealed anew: {}; sealed with the current secret already: {}", sealed.anew, sealed.current);
    say!("Links of trails authenticated anew: {}; with the current secret already: {}", links.anew, links.current);
    let first = |lost: &[String]| lost.first().cloned().unwrap_or_default();
    let (count, of) = (sealed.lost.len(), first(&sealed.lost));
    ensure!(count == 0, "{count} sealed values open with neither secret, as that of {of}; they were left as they are");
    let (count, of) = (links.lost.len(), first(&links.lost));
    ensure!(count == 0, "{count} links of trails are of neither secret, as {of}; they were left as they are");
    Ok(())
}

/// Seals an item anew, and authenticates it anew when it is a link of a trail.
async fn renew(tools: &Tools, keys: &TrailKeys, item: Item) -> Result<(Resealed, Resealed), store::Error> {
    let link = tools.store.authenticate_anew(keys, &item).await?;
    Ok((tools.store.reseal(&tools.sealer, item).await?, link))
}
