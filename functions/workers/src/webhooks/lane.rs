//! Processes the queue of one endpoint. Due deliveries about the same item are made in the order of
//! the item's changes.

use std::collections::HashSet;
use std::iter::from_fn;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use flows::App;
use flows::webhook::{BUDGET, attempt};
use futures_util::StreamExt as _;
use futures_util::stream::iter;
use jiff::Timestamp;
use model::webhook::{DisabledReason, Endpoint, Lane};
use store::optimistic;
use store::webhook::delivery::{AT_ONCE, PendingDelivery};
use store::webhook::queue::{ClaimedEndpoint, Place};
use tokio::time::{Instant, sleep};

use crate::fail_point::reached;
use crate::webhooks::notice;

/// The number of concurrent requests to an endpoint whose last attempt succeeded. An endpoint whose
/// last attempt failed gets one request at a time, because a request to a name that resolves slowly
/// occupies a thread, even after the request has ended.
const CONCURRENCY: usize = 8;
/// The number of deliveries made before the queue is read again.
const CHUNK: usize = CONCURRENCY * 4;
/// After this time, a pass starts no more requests. Even if the last request takes the maximum
/// time, it ends within the lease of the endpoint.
const PASS: Duration = Duration::from_secs(33);
/// The numbers of places in the parts of a queue that are searched for due places, one part after
/// another. Places after the last part are found once earlier places are gone. The first part is
/// small, because it usually contains enough due places, and each chunk of a long queue would
/// otherwise require reading a thousand places.
const PARTS: [i32; 10] = [128, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000];
/// After each pass over the queue of a failing endpoint, processing pauses for this many times as
/// long as the search for due places took. The queue of a failing endpoint grows, each new event
/// causes a search, and connections may be refused immediately. Without pauses, the searches would
/// keep the table busy and delay other endpoints.
const COOLDOWN_FACTOR: u32 = 4;
/// The longest pause.
const MAX_COOLDOWN: Duration = Duration::from_secs(2);
/// After this time, a pass starts no more requests if other endpoints are waiting for a task,
/// because a slow endpoint would otherwise occupy its task for several requests.
const SHARE: Duration = Duration::from_secs(1);

/// Delivers to an endpoint until nothing is due, the endpoint is disabled, another worker has
/// claimed it, or `until` has passed. While `is_crowded` is set, stops after one pass. The
/// remaining deliveries stay due, behind the waiting endpoints. If the endpoint was deleted,
/// deletes its deliveries instead. Returns `false` if another worker has claimed the endpoint, or
/// if the endpoint was deleted. The endpoint may then still appear due, but trying it again
/// immediately is useless. If late deliveries cannot be moved into the queue, makes a pass over the
/// deliveries before them, and then fails.
pub(super) async fn work(app: &App, lane: &Lane, until: Timestamp, is_crowded: &AtomicBool) -> Result<bool, store::Error> {
    while app.clock.now() < until {
        let Some(claimed) = app.store.claim_webhook(lane, app.clock.now()).await? else { return Ok(false) };
        reached("claimed-endpoint", 1);
        let Some(row) = app.store.webhook_endpoint(&lane.0, lane.1).await? else {
            while app.clock.now() < until && !app.store.purge_webhook(lane).await? {}
            return Ok(false);
        };
        let readmitted = match row.late {
            Some(late) => app.store.readmit_webhooks(lane, late, app.clock.now()).await,
            None => Ok(()),
        };
        let PassOutcome { may_have_more, cooldown } = pass(app, claimed, &row.endpoint, is_crowded).await?;
        readmitted?;
        sleep(cooldown).await;
        if !may_have_more || is_crowded.load(Ordering::Relaxed) {
            return Ok(true);
        }
    }
    Ok(true)
}

/// The next step after a pass over an endpoint's queue.
#[derive(Default)]
struct PassOutcome {
    /// Whether more deliveries may be due immediately.
    may_have_more: bool,
    /// How long to pause. The endpoint is not claimed during the pause.
    cooldown: Duration,
}

/// One pass over the queue of a claimed endpoint.
async fn pass(app: &App, mut claimed: ClaimedEndpoint, endpoint: &Endpoint, is_crowded: &AtomicBool) -> Result<PassOutcome, store::Error> {
    let lane = claimed.lane.clone();
    if endpoint.disabled.is_some() {
        // The deliveries of a disabled endpoint stay pending until it is enabled again.
        app.store.release_webhook(&claimed, None, app.clock.now()).await?;
        return Ok(PassOutcome::default());
    }
    let began = Instant::now();
    let DuePlaces { places, next } = due(app, &lane).await?;
    let search = began.elapsed();
    let is_idle = places.is_empty();
    let goes_on = || began.elapsed() < if is_crowded.load(Ordering::Relaxed) { SHARE } else { PASS };
    let mut off = None;
    // Only a few deliveries are read at a time, because a worker has many endpoints and a delivery
    // may take 64 KB. The drawback is that the next deliveries wait for the slowest delivery in the
    // chunk.
    for places in places.chunks(CONCURRENCY) {
        if off.is_some() || !goes_on() {
            break;
        }
        let pending = app.store.pending_webhooks(&lane, places.to_vec()).await?;
        off = deliver(app, &mut claimed, endpoint, pending.into_iter().take_while(|_| goes_on())).await?;
    }
    if let Some(reason) = off {
        switch_off(app, &lane, reason).await?;
    }
    let now = app.clock.now();
    let next = match off {
        Some(_) => None,
        None if is_idle => next,
        None => Some(now),
    };
    app.store.release_webhook(&claimed, next, now).await?;
    let is_failing = claimed.health.failing_since.is_some();
    let cooldown = if is_failing { (search * COOLDOWN_FACTOR).min(MAX_COOLDOWN) } else { Duration::ZERO };
    Ok(PassOutcome { may_have_more: off.is_none() && !is_idle, cooldown })
}

/// The due places, and the earliest time when another examined place becomes due.
struct DuePlaces {
    places: Vec<Place>,
    next: Option<Timestamp>,
}

/// Finds the first due places. If several places are for the same item, only the first may be due.
/// The later places have to wait for the first place.
async fn due(app: &App, lane: &Lane) -> Result<DuePlaces, store::Error> {
    let (now, mut seen) = (app.clock.now(), HashSet::new());
    let (mut places, mut next, mut after) = (Vec::new(), None, None);
    for limit in PARTS {
        let (part, end) = app.store.webhook_places(lane, after, limit).await?;
        for place in part {
            if !seen.insert(place.object.clone()) {
                continue;
            }
            if place.due_at <= now {
                places.push(place);
            } else {
                next = Some(next.map_or(place.due_at, |next: Timestamp| next.min(place.due_at)));
            }
        }
        after = end;
        if places.len() >= CHUNK || after.is_none() {
            break;
        }
    }
    places.truncate(CHUNK);
    Ok(DuePlaces { places, next })
}

/// Attempts the deliveries in an iterator, and writes several outcomes at a time as they arrive.
/// Each delivery is taken from the iterator only when its request can begin. Attempts are
/// concurrent while the endpoint works ([`Health::works`](model::webhook::health::Health::works)),
/// and are otherwise made one after another. Returns the reason for disabling the endpoint, if
/// there is one.
async fn deliver(
    app: &App,
    claimed: &mut ClaimedEndpoint,
    endpoint: &Endpoint,
    mut pending: impl Iterator<Item = PendingDelivery> + Send,
) -> Result<Option<DisabledReason>, store::Error> {
    let (lane, mut off, mut is_over) = (claimed.lane.clone(), None, false);
    while !is_over {
        is_over = true;
        // The number of requests that may still start before the endpoint's health is checked
        // again.
        let left = AtomicUsize::new(if claimed.health.works() { CHUNK } else { 1 });
        let next = || left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).ok().and_then(|_| pending.next());
        let attempts = from_fn(next).map(|mut pending| {
            let project = &lane.0;
            async move {
                reached("delivering", 1);
                let attempt = attempt(app, project, endpoint, &pending.delivery, BUDGET).await;
                reached("delivered", 1);
                pending.delivery.attempted(attempt, app.entropy.fraction());
                pending
            }
        });
        let mut settled = Box::pin(iter(attempts).buffer_unordered(CONCURRENCY).ready_chunks(AT_ONCE));
        while let Some(settled) = settled.next().await {
            is_over = false;
            for attempt in settled.iter().filter_map(|pending| pending.delivery.attempts.last()) {
                off = claimed.health.note(attempt).or(off);
            }
            if !claimed.health.works() {
                left.store(0, Ordering::Relaxed);
            }
            let count = settled.len();
            app.store.settle_webhooks(&lane, settled).await?;
            reached("settled-deliveries", count);
        }
    }
    Ok(off)
}

/// Disables an endpoint and, in the same transaction, notifies the owners of the project.
async fn switch_off(app: &App, (project, endpoint): &Lane, reason: DisabledReason) -> Result<(), store::Error> {
    optimistic!(|_| {
        let Some(row) = app.store.webhook_endpoint(project, *endpoint).await? else { return Ok(()) };
        if row.endpoint.disabled.is_some() {
            return Ok(());
        }
        let mut next = row.endpoint.clone();
        next.switch_off(reason, app.clock.now());
        let told = notice::writes(app, project, &next, reason).await?;
        app.store.replace_webhook_endpoint(project, &row, &next, told).await
    })
}
