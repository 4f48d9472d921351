//! Deletes a project completely.
//!
//! One transaction ends the project by deleting its item, which every request reads. From then on,
//! the project's keys do not work and nobody can see the project. Processes that remember the
//! project may take up to ten seconds to notice (`GATELET_PROJECT_CACHE_SECONDS`). The same
//! transaction leaves a note for a worker ([`crate::deletions`]), which must delete everything in
//! the project's lists, by user, team, month and day. The list items are deleted last, so that
//! after an interruption the lists still show what remains. Unlisted items (codes, counters, the
//! state of sign-ins, tokens of users deleted earlier) expire by TTL: codes within a week, and all
//! others within 367 days.
//!
//! A request that was admitted before the project ended, or by a process that remembers the
//! project, may still write. The final pass, which must find nothing, therefore runs at least a
//! minute later ([`LATE_WRITES`]). Until the final pass, the project's id cannot be used again.
//! Deleting costs 2 units for each KB; reading costs 1 unit for each 4 KB of a partition, and half
//! a unit for each 4 KB of a list.
//!
//! The link from the owning team is deleted in the first transaction, on the condition that the
//! owner has not changed, because a transfer moves the link.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::{BoxFuture, try_join_all};
use futures_util::{FutureExt as _, StreamExt as _, TryStreamExt as _};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use model::project::Project;
use model::project::retention::MAX_RETENTION_DAYS;
use model::team::invitation::Invitation;
use model::user::User;
use model::webhook::Endpoint;
use tokio::time::Instant;
use wire::id::{ProjectId, SessionId, TeamId};

use crate::deletions::{DeletionTarget, PendingDeletion};
use crate::keys::project_key;
use crate::metrics::activity;
use crate::outbox::delivery::{self, COUNT_SHARDS};
use crate::outbox::work::DueWork;
use crate::outbox::{self, broadcast, month_partitions};
use crate::passkey::passkey_claim_key;
use crate::project::{line_key, owned_key};
use crate::provider::account::account_claim_key;
use crate::session;
use crate::table::{DIGEST, Error, Item, Key, MAX_ATTEMPTS, MAX_WRITES, Pages, Store, Write, back_off, entity, string};
use crate::team::{self, TEAM_SHARDS, invitation};
use crate::trail::{self, chain, record};
use crate::user::by_word;
use crate::user::{self, USER_SHARDS, email_claim_key};
use crate::webhook::keys::{late_partitions, partition};

/// How long after its end a project may still be written to. Must be longer than a process may
/// remember the project, plus the duration of a request.
pub const LATE_WRITES: SignedDuration = SignedDuration::from_secs(60);
/// The number of users, teams or partitions processed in parallel.
const SIDE_BY_SIDE: usize = 8;
/// The number of list items read at a time.
const PAGE: i32 = 200;
/// The number of partition keys that are read and deleted before the next keys are read. A small
/// number saves memory, and ensures that a worker that is stopped has deleted most of what it read.
const SWEPT: i32 = 297;
/// The maximum number of due items searched for broadcasts in each partition.
const DUE: i32 = 1000;

/// The result of one pass over the data of an ended project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purge {
    /// There was nothing to delete.
    Nothing,
    /// Data was found and deleted.
    Something,
    /// Time ran out before all data was deleted.
    Unfinished,
}

struct Purger<'a> {
    store: &'a Store,
    project: &'a ProjectId,
    end: Instant,
    found: AtomicUsize,
}

impl Store {
    /// Ends a project: deletes its item, and leaves a note that a worker must delete its data. If
    /// the owner has changed since, reads the project again. Fails with [`Error::Conflict`] if the
    /// project has already ended, and with [`Error::Contended`] if its owner kept changing.
    pub async fn end_project(&self, project: &Project, now: Timestamp) -> Result<(), Error> {
        let (key, mut project) = (project_key(&project.id), project.clone());
        for attempt in 0..MAX_ATTEMPTS {
            back_off(attempt).await;
            let conflict = match self.end_of_owner(&project, now).await {
                Err(Error::Conflict(conflict)) => conflict,
                done => return done,
            };
            let found = self.get_many([key.clone()]).await?.entity(&key)?;
            project = found.ok_or(Error::Conflict(conflict))?;
        }
        Err(Error::Contended)
    }

    /// Ends a project if its owner has not changed since the project was read.
    async fn end_of_owner(&self, project: &Project, now: Timestamp) -> Result<(), Error> {
        let ending =
            PendingDeletion { project: project.id.clone(), what: DeletionTarget::Project { since: project.created_at }, begun_at: now };
        let owner = project.owner_team_id.as_deref();
        let gone = Write::delete(project_key(&project.id));
        let gone = match owner {
            Some(owner) => gone.on("d.owner_team_id = :owner").value(":owner", string(owner)),
            None => gone.on("attribute_exists(pk) AND attribute_not_exists(d.owner_team_id)"),
        };
        let others = [Write::delete(line_key(&project.id)), ending.note()?];
        let link = owner.and_then(|id| TeamId::parse(id).ok()).map(|team| Write::delete(owned_key(team, &project.id)));
        record::on_end_of(project);
        self.transact([gone].into_iter().chain(others).chain(link)).await
    }

    /// Deletes as much data as possible, until `end`, of an ended project that was created at
    /// `since`.
    pub async fn purge_project(&self, project: &ProjectId, since: Timestamp, now: Timestamp, end: Instant) -> Result<Purge, Error> {
        let purger = Purger { store: self, project, end, found: AtomicUsize::new(0) };
        // Boxed, because the compiler cannot handle futures nested this deeply.
        let users = try_join_all((0..USER_SHARDS).map(|shard| purger.users(shard).boxed()));
        let teams = try_join_all((0..TEAM_SHARDS).map(|shard| purger.teams(shard).boxed()));
        let others = async {
            tokio::try_join!(purger.ending_teams(), purger.mails(since, now), purger.trail(since, now), purger.fixed_partitions())
        };
        let others = others.boxed();
        let (users, teams, (ending, mails, trail, fixed)) = tokio::try_join!(users, teams, others)?;
        let is_done = users.into_iter().chain(teams).chain([ending, mails, trail, fixed]).all(|is_done| is_done);
        Ok(match (is_done, purger.found.into_inner()) {
            (false, _) => Purge::Unfinished,
            (true, 0) => Purge::Nothing,
            (true, _) => Purge::Something,
        })
    }
}

impl Purger<'_> {
    fn has_time(&self) -> bool {
        Instant::now() < self.end
    }

    /// The pages of a list.
    fn list(&self, partition: String) -> Pages<'_> {
        self.store.query_pages(self.store.query_list(partition).limit(PAGE))
    }

    /// Deletes items in order, in transactions of maximum size, and counts them.
    async fn delete(&self, keys: Vec<Key>) -> Result<(), Error> {
        for chunk in keys.chunks(MAX_WRITES) {
            self.store.transact(chunk.iter().cloned().map(Write::delete).collect::<Vec<_>>()).await?;
            self.found.fetch_add(chunk.len(), Ordering::Relaxed);
        }
        Ok(())
    }

    /// Deletes the items of a partition and, before each session of a user from an earlier version,
    /// the claim to its refresh token. Reads at most [`SWEPT`] keys, and deletes them before it
    /// reads more. The item with the sort key `last`, by which the partition is found, is deleted
    /// last. Returns whether the partition is empty: `false` if time ran out, which is checked only
    /// after the first keys are deleted.
    async fn sweep(&self, partition: &str, last: &str) -> Result<bool, Error> {
        let query = self.store.query_partition(partition).projection_expression(format!("pk, sk, {DIGEST}")).limit(SWEPT);
        let (mut held, mut pages) = (Vec::new(), self.store.query_pages(query));
        while let Some(items) = pages.next().await? {
            let (listed, own): (Vec<Key>, Vec<Key>) = items.iter().filter_map(Key::of).partition(|key| key.sk == last);
            held.extend(listed);
            let older = items.iter().filter(|item| !item.contains_key(DIGEST)).filter_map(Key::of);
            let mut keys = self.claims(older).await?;
            keys.extend(own);
            self.delete(keys).await?;
            if !pages.is_done() && !self.has_time() {
                return Ok(false);
            }
        }
        self.delete(held).await.map(|()| true)
    }

    /// The keys of the claims to the refresh tokens of these sessions from earlier versions; other
    /// keys are ignored.
    async fn claims(&self, keys: impl Iterator<Item = Key>) -> Result<Vec<Key>, Error> {
        let mut claims = Vec::new();
        for session in keys.filter_map(|key| SessionId::parse(key.sk.strip_prefix("SESSION#")?).ok()) {
            let oldest = self.store.oldest_claims(self.project, session).await?;
            claims.push(oldest.first().and_then(Key::of).unwrap_or_else(|| session::older_claim_key(self.project, session)));
        }
        Ok(claims)
    }

    /// Runs deletions in parallel, and returns whether all are complete.
    async fn all(&self, deletions: impl Iterator<Item = BoxFuture<'_, Result<bool, Error>>>) -> Result<bool, Error> {
        let done: Vec<bool> = futures_util::stream::iter(deletions).buffer_unordered(SIDE_BY_SIDE).try_collect().await?;
        Ok(done.into_iter().all(|is_done| is_done))
    }

    /// Sweeps partitions whose items can be deleted in any order.
    async fn sweep_all(&self, partitions: impl Iterator<Item = String>) -> Result<bool, Error> {
        let sweep = |partition: String| async move { Ok(self.has_time() && self.sweep(&partition, "").await?) }.boxed();
        self.all(partitions.map(sweep)).await
    }

    async fn users(&self, shard: u8) -> Result<bool, Error> {
        let mut pages = self.list(user::list_partition(self.project, shard));
        while self.has_time()
            && let Some(items) = pages.next().await?
        {
            if !self.all(items.into_iter().map(|item| self.user(item).boxed())).await? {
                return Ok(false);
            }
        }
        Ok(pages.is_done())
    }

    /// Deletes a user together with the claims to email addresses, provider accounts, passkeys and
    /// refresh tokens, which are in other partitions.
    async fn user(&self, item: Item) -> Result<bool, Error> {
        let Some(key) = Key::of(&item) else { return Ok(true) };
        if !self.has_time() {
            return Ok(false);
        }
        let user: User = entity(item)?;
        let emails = user.channels.iter().filter(|channel| channel.signs_in()).map(|channel| email_claim_key(self.project, &channel.value));
        let accounts = user.provider_accounts.iter().map(|account| account_claim_key(self.project, account));
        let passkeys = user.passkeys.iter().map(|passkey| passkey_claim_key(self.project, passkey));
        self.delete(emails.chain(accounts).chain(passkeys).collect()).await?;
        self.sweep(&key.pk, "USER").await
    }

    /// Deletes the teams that are no longer in the lists because their deletion had already begun.
    async fn ending_teams(&self) -> Result<bool, Error> {
        let teams = self.store.ending_teams(self.project).await?;
        self.all(teams.into_iter().map(|team| self.team(team).boxed())).await
    }

    async fn teams(&self, shard: u8) -> Result<bool, Error> {
        let mut pages = self.list(team::list_partition(self.project, shard));
        while self.has_time()
            && let Some(items) = pages.next().await?
        {
            let id = |item: &Item| item.get("gsi1sk").and_then(|value| TeamId::parse(value.as_s().ok()?.split('#').nth(1)?).ok());
            let teams: Vec<TeamId> = items.iter().filter_map(id).collect();
            if !self.all(teams.into_iter().map(|team| self.team(team).boxed())).await? {
                return Ok(false);
            }
        }
        Ok(pages.is_done())
    }

    /// Deletes a team with its members and invitations.
    async fn team(&self, team: TeamId) -> Result<bool, Error> {
        let mut pages = self.list(invitation::list_partition(self.project, team));
        while self.has_time()
            && let Some(items) = pages.next().await?
        {
            let found: Vec<Invitation> = items.into_iter().map(entity).collect::<Result<_, _>>()?;
            self.delete(found.iter().flat_map(|invitation| invitation::keys(self.project, invitation)).collect()).await?;
        }
        Ok(pages.is_done() && self.sweep(&team::partition(self.project, team), "TEAM").await?)
    }

    /// Deletes the unexpanded broadcasts, and then the outbox month by month, newest first.
    async fn mails(&self, since: Timestamp, now: Timestamp) -> Result<bool, Error> {
        for due in self.store.due_work(now, DUE).await? {
            if let DueWork::Broadcast(project, id) = due
                && project == *self.project
                && !self.sweep(&broadcast::partition(self.project, id), "HEAD").await?
            {
                return Ok(false);
            }
        }
        let mut month = now;
        loop {
            for partition in month_partitions(self.project, month) {
                let mut pages = self.list(partition);
                while self.has_time()
                    && let Some(items) = pages.next().await?
                {
                    self.delete(items.iter().filter_map(Key::of).collect()).await?;
                }
                if !pages.is_done() {
                    return Ok(false);
                }
            }
            if outbox::month(month) <= outbox::month(since) {
                return Ok(true);
            }
            let day_before = month.to_zoned(TimeZone::UTC).first_of_month().and_then(|first| first.yesterday());
            month = day_before.map_or(since, |day| day.timestamp());
        }
    }

    /// Deletes the trail day by day, newest first. Entries older than the maximum retention have
    /// expired.
    async fn trail(&self, since: Timestamp, now: Timestamp) -> Result<bool, Error> {
        let kept = now.checked_sub(SignedDuration::from_hours(24 * i64::from(MAX_RETENTION_DAYS))).unwrap_or(since);
        let (first, last) = (trail::day(since.max(kept)), trail::day(now));
        let days = last.until(first).map_or(0, |span| i64::from(span.get_days().unsigned_abs()));
        let days = (0..=days).filter_map(|ago| last.checked_sub(SignedDuration::from_hours(24 * ago)).ok());
        let partitions: Vec<String> = days.flat_map(|day| trail::day_partitions(self.project, day)).collect();
        self.sweep_all(partitions.into_iter()).await
    }

    /// Deletes the project's partitions that have fixed names: API keys, the levels of the
    /// configuration, the boost, email documents, quotas, delivery counters, figures, the words of
    /// users, the links of the trail, and webhook endpoints with their deliveries.
    async fn fixed_partitions(&self) -> Result<bool, Error> {
        // Endpoints are deleted last, because they are needed to find the webhook deliveries.
        let endpoints = self.store.webhook_endpoints(self.project).await?;
        let of = |endpoint: Endpoint| late_partitions(self.project, endpoint.id).chain([partition(self.project, endpoint.id)]);
        if !self.sweep_all(endpoints.into_iter().flat_map(of)).await? {
            return Ok(false);
        }
        let counters = (0..COUNT_SHARDS).map(|shard| delivery::partition(self.project, shard));
        let active = (0..activity::SHARDS).map(|shard| activity::partition(self.project, shard));
        let others = ["P", "T", "Q", "F"].map(|kind| format!("{kind}#{}", self.project));
        let words = (0..USER_SHARDS).map(|shard| by_word::partition(self.project, shard));
        let links = [chain::partition(self.project)];
        self.sweep_all(counters.chain(active).chain(words).chain(others).chain(links)).await
    }
}
