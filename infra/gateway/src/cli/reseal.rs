//! `gateway reseal`: re-encrypts values sealed with the previous deployment secret, and
//! authenticates the links of audit trails with the current one. Afterwards, the previous secret
//! can be removed.
//!
//! The command can be stopped and restarted at any time, because it skips values that the current
//! secret already protects. Servers can keep running if all of them have the current secret.

use anyhow::ensure;
use crypto::trail_keys::TrailKeys;
use futures_util::{StreamExt as _, TryStreamExt as _};
use store::Item;
use store::reseal::ResealResult;

use super::tools::Tools;
use super::transfer::bar;
use crate::say::say;

/// The number of items that are processed at the same time.
const PARALLEL: usize = 32;

pub(super) async fn run(tools: &Tools) -> anyhow::Result<()> {
    let bar = bar("scanned", tools.store.estimate().await?, 0);
    let keys = TrailKeys::new(&tools.secret);
    let (mut sealed, mut links, mut after) = (ResealResult::default(), ResealResult::default(), None);
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
    say!("Resealed: {}; already sealed with the current secret: {}", sealed.anew, sealed.current);
    say!("Trail links re-authenticated: {}; already up to date: {}", links.anew, links.current);
    let first = |lost: &[String]| lost.first().cloned().unwrap_or_default();
    let (count, of) = (sealed.lost.len(), first(&sealed.lost));
    ensure!(
        count == 0,
        "{count} sealed values, such as the one at {of}, can be unsealed with neither GATELET_SECRET nor GATELET_SECRET_PREVIOUS and \
         were left unchanged: set GATELET_SECRET_PREVIOUS to the secret that sealed them, and run the command again"
    );
    let (count, of) = (links.lost.len(), first(&links.lost));
    ensure!(
        count == 0,
        "{count} trail links, such as {of}, can be verified with neither GATELET_SECRET nor GATELET_SECRET_PREVIOUS and were left \
         unchanged: set GATELET_SECRET_PREVIOUS to the secret that authenticated them, and run the command again; if there is no \
         such secret, the links were tampered with"
    );
    Ok(())
}

/// Reseals the values of an item. If the item is a link of a trail, authenticates it with the
/// current secret.
async fn renew(tools: &Tools, keys: &TrailKeys, item: Item) -> Result<(ResealResult, ResealResult), store::Error> {
    let link = tools.store.authenticate_anew(keys, &item).await?;
    Ok((tools.store.reseal(&tools.sealer, item).await?, link))
}
