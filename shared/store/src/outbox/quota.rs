//! The buckets from which projects' mails take their tokens.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | bucket | `Q#<P>` | `BUCKET` | 1 unit to read and 1 to write for up to a hundred mails; each minute a month of counters ([`crate::outbox::delivery`]) |
//!
//! A taking is one update under the version that was read: however many workers take at once, no token is taken twice.

use jiff::Timestamp;
use model::outbox::delivery::{DeliveryCapacity, DeliveryStats};
use model::outbox::quota::Bucket;
use wire::id::ProjectId;

use crate::client::Store;
use crate::error::Error;
use crate::item::{Key, entity, integer, number};
use crate::optimistic;
use crate::outbox::work::Queue;
use crate::write::Write;

/// How often a worker looks again when others were faster.
const ROUNDS: u32 = 10;

fn bucket_key(project: &ProjectId) -> Key {
    Key::new(format!("Q#{project}"), "BUCKET")
}

/// The result, or `otherwise` when others were faster each time.
fn or_later<T>(result: Result<T, Error>, otherwise: T) -> Result<T, Error> {
    match result {
        Err(Error::Contended) => Ok(otherwise),
        result => result,
    }
}

impl Store {
    /// Takes up to a token for each mail of a queue, whose project may send `base` mails in an hour at least; gives how many there were. None when
    /// other workers are faster all the time: they send then.
    pub async fn take_mail_tokens(&self, queue: &Queue, base: u32, now: Timestamp) -> Result<u32, Error> {
        let (project, wanted) = (&queue.project, u32::try_from(queue.entries.len()).unwrap_or(u32::MAX));
        let taken = optimistic!(ROUNDS, |_| {
            let (bucket, version) = self.bucket(project, base, now).await?;
            let (left, taken) = bucket.take(queue.to, wanted, now);
            if taken > 0 {
                self.replace_bucket(project, &left, version).await?;
            }
            Ok(taken)
        });
        or_later(taken, 0)
    }

    /// Puts back tokens for which there was no mail. One that is lost is lost: that delays a mail, and lets no other through.
    pub async fn give_mail_tokens_back(&self, queue: &Queue, count: u32) -> Result<(), Error> {
        let project = &queue.project;
        let given = optimistic!(ROUNDS, |_| {
            let Some(item) = self.get(&bucket_key(project)).await? else { return Ok(()) };
            let version = number(&item, "version").unwrap_or_default();
            let bucket: Bucket = entity(item)?;
            self.replace_bucket(project, &bucket.give_back(queue.to, count), version).await
        });
        or_later(given, ())
    }

    /// The bucket at the rate that the last month of mails gives, and its version; 0 when there is none in the table.
    async fn bucket(&self, project: &ProjectId, base: u32, now: Timestamp) -> Result<(Bucket, u64), Error> {
        let item = self.get(&bucket_key(project)).await?;
        let version = item.as_ref().and_then(|item| number(item, "version")).unwrap_or_default();
        let known: Option<Bucket> = item.map(entity).transpose()?;
        if let Some(bucket) = known.filter(|bucket| !bucket.is_rate_old(now)) {
            return Ok((bucket, version));
        }
        let stats = DeliveryStats::of(&self.deliveries(project, now).await?, now);
        let per_hour = DeliveryCapacity::of(&stats, base).boosted(self.boost(project, now).await?).per_hour();
        Ok((known.map_or_else(|| Bucket::full(per_hour, now), |bucket| bucket.at_rate(per_hour, now)), version))
    }

    async fn replace_bucket(&self, project: &ProjectId, bucket: &Bucket, version: u64) -> Result<(), Error> {
        let write = Write::update(bucket_key(project), "SET d = :d, version = :new")
            .entity(":d", bucket)?
            .value(":new", integer(version + 1))
            .value(":old", integer(version));
        let condition = if version == 0 { "attribute_not_exists(pk) OR version = :old" } else { "version = :old" };
        self.write(write.on(condition)).await
    }
}
