//! Deletes a project completely.
//!
//! One transaction ends the project by deleting its item, which requests read. From then on its
//! keys do not work and the project does not exist for anyone, except for up to ten seconds in
//! processes that remember it (`GATELET_PROJECT_CACHE_SECONDS`). The same transaction notes the
//! remaining work for a worker ([`crate::deletions`]): to delete everything that is found through
//! the project's lists, by user, team, month and day. The items in the lists are deleted last, so
//! that after an interruption the lists still show what remains. Items in no list (codes, counters,
//! the state of sign-ins, tokens of users deleted earlier) expire by TTL: codes within a week, the
//! last of the others after 367 days.
//!
//! A request that was admitted before the project ended, or by a process that remembers it, may
//! still write. The final pass, which must find nothing, therefore happens at least a minute later
//! ([`LATE_WRITES`]). Deleting costs 2 units for each KB; reading costs 1 unit for each 4 KB of a
//! partition, and half a unit for each 4 KB of a list.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::{BoxFuture, try_join_all};
use futures_util::{FutureExt as _, StreamExt as _, TryStreamExt as _};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use model::project::Project;
use model::trail::retention::MAX_RETENTION_DAYS;
use model::user::User;
use tokio::time::Instant;
use wire::id::{ProjectId, SessionId, TeamId};

use crate::client::{MAX_WRITES, Store};
use crate::deletions::{Ended, Ending};
use crate::error::Error;
use crate::item::{Item, Key, entity, key_of, string};
use crate::keys::project_key;
use crate::metrics::activity;
use crate::outbox::delivery::{self, COUNT_SHARDS};
use crate::outbox::work::Due;
use crate::outbox::{broadcast, month_partition};
use crate::passkey::passkey_claim_key;
use crate::project::{line_key, owned_key};
use crate::team::{self, TEAM_SHARDS, invitation};
use crate::trail::{self, chain};
use crate::user::by_word;
use crate::user::provider_account::account_claim_key;
use crate::user::{self, USER_SHARDS, email_claim_key};
use crate::webhook::keys::partition;
use crate::write::Write;
use crate::{record, session};

/// How long a project may still be written to after its end: more than the time for which a process
/// may remember the project plus the duration of a request.
pub const LATE_WRITES: SignedDuration = SignedDuration::from_secs(60);
/// How many users, teams, days of the trail or transactions are processed in parallel.
const SIDE_BY_SIDE: usize = 8;
/// How many items of a list are read at once.
const PAGE: i32 = 200;
/// The maximum number of due items of each partition that are searched for broadcasts.
const DUE: i32 = 1000;

/// The result of one pass over the data of an ended project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purge {
    /// There was nothing to delete.
    Nothing,
    /// Data was found and deleted.
    Something,
    /// Time ran out before all data was examined.
    Unfinished,
}

struct Purger<'a> {
    store: &'a Store,
    project: &'a ProjectId,
    end: Instant,
    found: AtomicUsize,
}

impl Store {
    /// Ends a project: deletes its item, and notes that a worker has to delete its data.
    /// [`Error::Conflict`] if it has already ended.
    pub async fn end_project(&self, project: &Project, now: Timestamp) -> Result<(), Error> {
        let ending = Ending { project: project.id.clone(), what: Ended::Project { since: project.created_at }, begun_at: now };
        let owner = project.owner_team_id.as_deref().and_then(|id| TeamId::parse(id).ok());
        let gone = Write::delete(project_key(&project.id)).on("attribute_exists(pk)");
        let others = [Write::delete(line_key(&project.id)), ending.note()?];
        let link = owner.map(|team| Write::delete(owned_key(team, &project.id)));
        record::on_end_of(project);
        self.transact([gone].into_iter().chain(others).chain(link)).await
    }

    /// Deletes as much data of an ended project, which was created at `since`, as is possible until
    /// `end`.
    pub async fn purge_project(&self, project: &ProjectId, since: Timestamp, now: Timestamp, end: Instant) -> Result<Purge, Error> {
        let purger = Purger { store: self, project, end, found: AtomicUsize::new(0) };
        // Boxed, because the compiler does not support futures nested this deeply.
        let users = try_join_all((0..USER_SHARDS).map(|shard| purger.users(shard).boxed()));
        let teams = try_join_all((0..TEAM_SHARDS).map(|shard| purger.teams(shard).boxed()));
        let others = async {
            tokio::try_join!(purger.ending_teams(), purger.mails(since, now), purger.trail(since, now), purger.fixed_partitions())
        };
        let others = others.boxed();
        let (users, teams, ((), mails, trail, ())) = tokio::try_join!(users, teams, others)?;
        let is_done = mails && trail && users.into_iter().chain(teams).all(|is_done| is_done);
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

    /// A page of a list, and the key after which the next page begins.
    async fn page(&self, partition: &str, from: Option<Item>) -> Result<(Vec<Item>, Option<Item>), Error> {
        let query = self.store.query().index_name("gsi1").key_condition_expression("gsi1pk = :pk");
        let query = query.expression_attribute_values(":pk", string(partition));
        self.store.query_page(query.limit(PAGE).set_exclusive_start_key(from)).await
    }

    async fn delete(&self, keys: Vec<Key>) -> Result<usize, Error> {
        let count = keys.len();
        let chunks = keys.chunks(MAX_WRITES).map(|chunk| self.store.transact(chunk.iter().cloned().map(Write::delete).collect::<Vec<_>>()));
        let chunks: Vec<_> = chunks.collect();
        futures_util::stream::iter(chunks).buffer_unordered(SIDE_BY_SIDE).try_collect::<Vec<()>>().await?;
        Ok(count)
    }

    /// The keys of a partition's items.
    async fn keys_of(&self, partition: &str) -> Result<Vec<Key>, Error> {
        let query = self.store.query().key_condition_expression("pk = :pk").expression_attribute_values(":pk", string(partition));
        let items = self.store.query_all(query.projection_expression("pk, sk").consistent_read(true)).await?;
        Ok(items.iter().filter_map(key_of).collect())
    }

    /// Deletes the items of a partition and `others`. The partition's item with the sort key
    /// `listed`, by which the partition is found, is deleted last.
    async fn delete_partition(&self, partition: &str, listed: &str, others: Vec<Key>) -> Result<usize, Error> {
        let (last, first): (Vec<Key>, Vec<Key>) = self.keys_of(partition).await?.into_iter().partition(|key| key.sk == listed);
        Ok(self.delete(first.into_iter().chain(others).collect()).await? + self.delete(last).await?)
    }

    fn count(&self, deleted: usize) {
        self.found.fetch_add(deleted, Ordering::Relaxed);
    }

    /// Runs deletions side by side, and counts the items that they delete.
    async fn count_all(&self, deletions: impl Iterator<Item = BoxFuture<'_, Result<usize, Error>>>) -> Result<(), Error> {
        let deleted: Vec<usize> = futures_util::stream::iter(deletions).buffer_unordered(SIDE_BY_SIDE).try_collect().await?;
        self.count(deleted.into_iter().sum());
        Ok(())
    }

    async fn users(&self, shard: u8) -> Result<bool, Error> {
        let (partition, mut from) = (user::list_partition(self.project, shard), None);
        while self.has_time() {
            let (items, next) = self.page(&partition, from).await?;
            self.count_all(items.into_iter().map(|item| self.user(item).boxed())).await?;
            from = next;
            if from.is_none() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Deletes a user together with the claims to the user's email addresses, provider accounts,
    /// passkeys and refresh tokens. The claims are in other partitions.
    async fn user(&self, item: Item) -> Result<usize, Error> {
        let Some(key) = key_of(&item) else { return Ok(0) };
        let user: User = entity(item)?;
        let emails = user.channels.iter().filter(|channel| channel.signs_in()).map(|channel| email_claim_key(self.project, &channel.value));
        let accounts = user.provider_accounts.iter().map(|account| account_claim_key(self.project, account));
        let passkeys = user.passkeys.iter().map(|passkey| passkey_claim_key(self.project, passkey));
        let mut claims: Vec<Key> = emails.chain(accounts).chain(passkeys).collect();
        let own = self.keys_of(&key.pk).await?;
        let sessions = own.iter().filter_map(|key| key.sk.strip_prefix("SESSION#")).filter_map(|id| SessionId::parse(id).ok());
        for session in sessions {
            let older = self.store.older_claims(self.project, session).await?;
            claims.push(older.first().and_then(key_of).unwrap_or_else(|| session::claim_key_of(self.project, session)));
        }
        self.delete_partition(&key.pk, "USER", claims).await
    }

    /// Deletes the teams whose own deletion had begun. The lists no longer contain them.
    async fn ending_teams(&self) -> Result<(), Error> {
        for team in self.store.ending_teams(self.project).await? {
            self.count(self.team(team).await?);
        }
        Ok(())
    }

    async fn teams(&self, shard: u8) -> Result<bool, Error> {
        let (partition, mut from) = (team::list_partition(self.project, shard), None);
        while self.has_time() {
            let (items, next) = self.page(&partition, from).await?;
            let id = |item: &Item| item.get("gsi1sk").and_then(|value| TeamId::parse(value.as_s().ok()?.split('#').nth(1)?).ok());
            let teams: Vec<TeamId> = items.iter().filter_map(id).collect();
            self.count_all(teams.into_iter().map(|team| self.team(team).boxed())).await?;
            from = next;
            if from.is_none() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Deletes a team with its members and invitations.
    async fn team(&self, team: TeamId) -> Result<usize, Error> {
        let invitations = self.store.invitations_to(self.project, team).await?;
        let others = invitations.iter().flat_map(|invitation| invitation::keys(self.project, invitation)).collect();
        self.delete_partition(&team::partition(self.project, team), "TEAM", others).await
    }

    /// Deletes the broadcasts that are still being expanded, and then the outbox month by month,
    /// newest first.
    async fn mails(&self, since: Timestamp, now: Timestamp) -> Result<bool, Error> {
        for due in self.store.due_work(now, DUE).await? {
            if let Due::Broadcast(project, id) = due
                && project == *self.project
            {
                self.count(self.delete_partition(&broadcast::partition(self.project, id), "HEAD", Vec::new()).await?);
            }
        }
        let (mut month, last) = (now, month_partition(self.project, since));
        loop {
            let partition = month_partition(self.project, month);
            let mut from = None;
            loop {
                if !self.has_time() {
                    return Ok(false);
                }
                let (items, next) = self.page(&partition, from).await?;
                self.count(self.delete(items.iter().filter_map(key_of).collect()).await?);
                from = next;
                if from.is_none() {
                    break;
                }
            }
            if partition <= last {
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
        let deleted = days.map(|day| {
            async move {
                if !self.has_time() {
                    return Ok(false);
                }
                self.count(self.delete(self.keys_of(&trail::day_partition(self.project, day)).await?).await?);
                Ok::<_, Error>(true)
            }
            .boxed()
        });
        let done: Vec<bool> = futures_util::stream::iter(deleted).buffer_unordered(SIDE_BY_SIDE).try_collect().await?;
        Ok(done.into_iter().all(|is_done| is_done))
    }

    /// Deletes the project's partitions that have fixed names: API keys, the levels of the
    /// configuration, the boost, email documents, quotas, delivery counters, figures, the words of
    /// users, the links of the trail, and webhook endpoints with their deliveries.
    async fn fixed_partitions(&self) -> Result<(), Error> {
        // The deliveries of webhooks are found by the endpoints, which are deleted last.
        for endpoint in self.store.webhook_endpoints(self.project).await? {
            self.count(self.delete(self.keys_of(&partition(self.project, endpoint.id)).await?).await?);
        }
        let counters = (0..COUNT_SHARDS).map(|shard| delivery::partition(self.project, shard));
        let active = (0..activity::SHARDS).map(|shard| activity::partition(self.project, shard));
        let others = ["P", "T", "Q", "F"].map(|kind| format!("{kind}#{}", self.project));
        let words = (0..USER_SHARDS).map(|shard| by_word::partition(self.project, shard));
        let delete = async |partition: String| self.delete(self.keys_of(&partition).await?).await;
        let links = [chain::partition(self.project)];
        let deleted = try_join_all(counters.chain(active).chain(words).chain(others).chain(links).map(delete)).await?;
        self.count(deleted.into_iter().sum());
        Ok(())
    }
}
