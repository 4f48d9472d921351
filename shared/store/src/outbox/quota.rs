//! Token buckets, which limit how fast each project sends emails.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | bucket | `Q#<P>` | `BUCKET` | 1 unit to read and 1 to write whenever tokens are taken for the first emails of a queue, owed or put back; once a minute, also the cost of reading a month of counters ([`crate::outbox::delivery`]) and the boost |
//!
//! Tokens are taken with one update, on the condition that the version of the bucket has not
//! changed, so concurrent workers never take the same token.

use jiff::Timestamp;
use model::outbox::delivery::{DeliveryCapacity, DeliveryStats};
use model::outbox::quota::Bucket;
use wire::id::ProjectId;

use crate::optimistic;
use crate::outbox::work::Queue;
use crate::table::{Error, Key, Store, Write, entity, integer, number};

/// The maximum number of attempts to change a bucket while other workers change it.
const MAX_ATTEMPTS: u32 = 10;

fn bucket_key(project: &ProjectId) -> Key {
    Key::new(format!("Q#{project}"), "BUCKET")
}

/// The result, or `otherwise` if another worker was faster at every attempt.
fn or_later<T>(result: Result<T, Error>, otherwise: T) -> Result<T, Error> {
    match result {
        Err(Error::Contended) => Ok(otherwise),
        result => result,
    }
}

impl Store {
    /// Takes up to `wanted` tokens for emails of a queue. `base` is the number of emails per hour
    /// from which the project's rate is computed. Returns the number of tokens taken, which is zero
    /// if the bucket does not have a whole token for the queue. Also returns zero if other workers
    /// were faster at every attempt, because those workers are then sending the project's emails.
    pub async fn take_mail_tokens(&self, queue: &Queue, wanted: u32, base: u32, now: Timestamp) -> Result<u32, Error> {
        let project = &queue.project;
        let taken = optimistic!(MAX_ATTEMPTS, |_| {
            let (bucket, version) = self.bucket(project, base, now).await?;
            let (left, taken) = bucket.take(queue.to, wanted, now);
            if taken > 0 {
                self.replace_bucket(project, &left, version).await?;
            }
            Ok(taken)
        });
        or_later(taken, 0)
    }

    /// Puts back unused tokens. Unused tokens are lost if the table fails, or if other workers are
    /// faster at every attempt (which is not an error). The project's emails are then delayed, but
    /// the project does not exceed its rate.
    pub async fn give_mail_tokens_back(&self, queue: &Queue, count: u32) -> Result<(), Error> {
        self.change_bucket(queue, |bucket| bucket.give_back(queue.to, count)).await.map(|_| ())
    }

    /// Takes tokens even if the bucket does not have enough: the next emails wait until the missing
    /// tokens have been added. Returns `false` if other workers were faster at every attempt, so
    /// that no tokens were taken.
    pub async fn owe_mail_tokens(&self, queue: &Queue, count: u32) -> Result<bool, Error> {
        self.change_bucket(queue, |bucket| bucket.owe(queue.to, count)).await
    }

    async fn change_bucket(&self, queue: &Queue, change: impl Fn(&Bucket) -> Bucket) -> Result<bool, Error> {
        let project = &queue.project;
        let changed = optimistic!(MAX_ATTEMPTS, |_| {
            let Some(item) = self.get(&bucket_key(project)).await? else { return Ok(true) };
            let version = number(&item, "version").unwrap_or_default();
            let bucket: Bucket = entity(item)?;
            self.replace_bucket(project, &change(&bucket), version).await.map(|()| true)
        });
        or_later(changed, false)
    }

    /// The project's bucket and its version, which is 0 if the bucket is not in the table. The
    /// bucket's rate is computed from the last month's emails and any active boost.
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
