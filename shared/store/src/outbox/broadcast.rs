//! Broadcasts: emails to more users than fit into one transaction.
//!
//! | item | pk | sk | |
//! |---|---|---|---|
//! | head | `B#<P>#<id>` | `HEAD` | the email, and in `next` the number of recipients who already have an entry; in gsi2 as due work |
//! | page | `B#<P>#<id>` | `PAGE#<n>` | up to `PAGE` recipients, 16 bytes each |
//!
//! A broadcast is written in one transaction, so it is accepted entirely or not at all. A worker
//! then expands the broadcast into outbox entries in several transactions. Each transaction also
//! advances `next`, on the condition that the version of the head has not changed. Each recipient
//! therefore gets exactly one entry, even if the worker is restarted or another worker runs
//! concurrently. The transaction for the last recipient of a page deletes the page; the last
//! transaction also deletes the head.

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use jiff::Timestamp;
use model::outbox::{OutboxEntry, Recipients};
use uuid::Uuid;
use wire::id::{BroadcastId, EmailId, ProjectId, UserId};

use crate::outbox;
use crate::outbox::work::{WorkPosition, due_work_position};
use crate::table::{Error, Item, Key, MAX_WRITES, Store, Write, entity, integer, number, string};

/// Recipients per page. A full page takes 32 KB, so resuming a broadcast reads little data.
const PAGE: usize = 2000;
/// The maximum number of recipients: the head, the pages and the draft of the email are written in
/// one transaction.
pub const MAX_RECIPIENTS: usize = PAGE * (MAX_WRITES - 2);
/// The maximum size of the entries in one transaction, in bytes; DynamoDB permits 4 MB.
const MAX_BYTES: usize = 3_000_000;

/// A broadcast that is being expanded.
#[derive(Debug)]
pub struct BroadcastRow {
    id: BroadcastId,
    /// The entry that is copied for each recipient.
    mail: OutboxEntry,
    total: usize,
    next: usize,
    version: u64,
}

pub(crate) fn partition(project: &ProjectId, id: BroadcastId) -> String {
    format!("B#{project}#{id}")
}

fn head_key(project: &ProjectId, id: BroadcastId) -> Key {
    Key::new(partition(project, id), "HEAD")
}

fn page_key(project: &ProjectId, id: BroadcastId, page: usize) -> Key {
    Key::new(partition(project, id), format!("PAGE#{page:04}"))
}

/// The number of entries like `mail` that fit into a transaction.
pub fn entries_at_once(mail: &OutboxEntry) -> usize {
    // Two writes are reserved: one to advance the head and one to delete a page.
    (MAX_BYTES / mail.bytes()).clamp(1, MAX_WRITES - 2)
}

/// The entry of one recipient.
pub fn entry_for(mail: &OutboxEntry, id: EmailId, user_id: UserId) -> OutboxEntry {
    OutboxEntry { id, to: Recipients::UserPrimaryEmail { user_id }, ..mail.clone() }
}

impl Store {
    /// Writes a broadcast of `mail` to at most [`MAX_RECIPIENTS`] users; the recipients in `mail`
    /// itself are ignored. `other` is written in the same transaction.
    pub async fn create_broadcast(
        &self,
        project: &ProjectId,
        id: BroadcastId,
        mail: &OutboxEntry,
        to: &[UserId],
        other: Option<Write>,
    ) -> Result<(), Error> {
        if to.len() > MAX_RECIPIENTS {
            return Err(Error::TooMuch(format!("{} recipients; a broadcast can have at most {MAX_RECIPIENTS}", to.len())));
        }
        let WorkPosition { partition, position } = due_work_position(mail.is_high_priority, id.uuid(), mail.created_at);
        let head = Write::create(head_key(project, id), mail)?
            .attribute("version", integer(1))
            .attribute("total", integer(to.len()))
            .attribute("next", integer(0))
            .attribute("gsi2pk", string(partition))
            .attribute("gsi2sk", string(position));
        let mut writes = vec![head];
        for (number, users) in to.chunks(PAGE).enumerate() {
            let bytes: Vec<u8> = users.iter().flat_map(|user| user.uuid().into_bytes()).collect();
            let page = Write::create(page_key(project, id, number), &users.len())?;
            writes.push(page.attribute("users", AttributeValue::B(Blob::new(bytes))));
        }
        self.transact(writes.into_iter().chain(other)).await
    }

    /// The broadcast with this id; `None` if it does not exist or is fully expanded.
    pub async fn broadcast(&self, project: &ProjectId, id: BroadcastId) -> Result<Option<BroadcastRow>, Error> {
        let Some(item) = self.get(&head_key(project, id)).await? else { return Ok(None) };
        let count = |name| number(&item, name).unwrap_or_default();
        let (total, next, version) = (count("total"), count("next"), number(&item, "version").unwrap_or_default());
        Ok(Some(BroadcastRow { id, total, next, version, mail: entity(item)? }))
    }

    /// Writes the entries of the next recipients and returns their number; `Conflict` if another
    /// worker was faster.
    pub async fn expand_broadcast(&self, project: &ProjectId, row: &BroadcastRow, now: Timestamp) -> Result<usize, Error> {
        let page = page_key(project, row.id, row.next / PAGE);
        let users = self.get(&page).await?.as_ref().and_then(users_of).unwrap_or_default();
        let count = users.len().saturating_sub(row.next % PAGE).min(entries_at_once(&row.mail));
        if count == 0 {
            return Err(Error::Refused(format!("the broadcast {} lacks its item {}", page.pk, page.sk)));
        }
        let next = row.next + count;
        let mut writes = vec![row.moved_on(project, next)];
        if next.is_multiple_of(PAGE) || next >= row.total {
            writes.push(Write::delete(page));
        }
        for user in &users[row.next % PAGE..][..count] {
            let entry = entry_for(&row.mail, EmailId::from(self.entropy.uuid()), *user);
            writes.push(outbox::create(project, &OutboxEntry { updated_at: now, ..entry })?);
        }
        self.transact(writes).await.map(|()| count)
    }
}

impl BroadcastRow {
    fn moved_on(&self, project: &ProjectId, next: usize) -> Write {
        let key = head_key(project, self.id);
        let write = if next >= self.total {
            Write::delete(key)
        } else {
            let update = Write::update(key, "SET #next = :next, version = :new").name("#next", "next");
            update.value(":next", integer(next)).value(":new", integer(self.version + 1))
        };
        write.on("version = :old").value(":old", integer(self.version))
    }
}

fn users_of(page: &Item) -> Option<Vec<UserId>> {
    let bytes = page.get("users")?.as_b().ok()?.as_ref();
    Some(bytes.chunks_exact(16).filter_map(|id| Uuid::from_slice(id).ok().map(UserId::from)).collect())
}
