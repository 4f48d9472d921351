//! The database of the inbox.
//!
//! | table | row |
//! |---|---|
//! | `messages` | an email, with the fields that lists show; emails are numbered in the order of arrival |
//! | `bodies` | the text and the HTML of an email, stored separately so that lists read little |
//!
//! `SQLite` is fast enough for an inbox: it stores 9,000 to 15,000 emails a second, each with a
//! separate commit (debug build; `cargo test -p gateway --lib -- --ignored --nocapture measured`).
//!
//! A committed email is in the write-ahead log, so it survives the end of the gateway's process.
//! Commits do not wait for the disk, so the most recent emails can be lost in a power failure.

use std::path::Path;

use email::mime;
use email::send::{Mail, Sender};
use jiff::Timestamp;
use model::email::Email;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Row, params, params_from_iter};
use wire::id::{EmailId, ProjectId};

use super::lines::Line;
use super::message::{Error, KEPT, Message, MessagePage, Query, message_id};

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS messages (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        outbox_id TEXT NOT NULL,
        project_id TEXT,
        sender_name TEXT NOT NULL,
        sender_address TEXT NOT NULL,
        recipients TEXT NOT NULL,
        subject TEXT NOT NULL,
        sent_at_millis INTEGER NOT NULL,
        is_read INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE TABLE IF NOT EXISTS bodies (
        number INTEGER PRIMARY KEY REFERENCES messages ON DELETE CASCADE,
        text TEXT,
        unsubscribe TEXT,
        is_automatic INTEGER NOT NULL DEFAULT 0,
        html TEXT
    ) STRICT;
";
const COLUMNS: &str = "id, outbox_id, project_id, sender_name, sender_address, recipients, subject, sent_at_millis, is_read";

pub(super) struct Table {
    connection: Connection,
    count: usize,
}

impl Table {
    pub(super) fn open(file: &Path) -> Result<Self, Error> {
        let connection = Connection::open(file)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        Self::prepare(connection)
    }

    pub(super) fn memory() -> Result<Self, Error> {
        Self::prepare(Connection::open_in_memory()?)
    }

    fn prepare(connection: Connection) -> Result<Self, Error> {
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.execute_batch(SCHEMA)?;
        // Inboxes from earlier versions do not have the column `is_automatic`.
        let has_column = connection.prepare("SELECT 1 FROM pragma_table_info('bodies') WHERE name = 'is_automatic'")?.exists([])?;
        if !has_column {
            connection.execute_batch("ALTER TABLE bodies ADD COLUMN is_automatic INTEGER NOT NULL DEFAULT 0")?;
        }
        let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
        // SQLite's `LIKE` and `lower` ignore case only in ASCII. The text to search for is already
        // in lowercase.
        connection.create_scalar_function("has_part", 2, flags, |context| {
            let text = context.get_raw(0).as_str_or_null().map_err(|error| rusqlite::Error::UserFunctionError(error.into()))?;
            let part = context.get_raw(1).as_str().map_err(|error| rusqlite::Error::UserFunctionError(error.into()))?;
            Ok(text.is_some_and(|text| text.to_lowercase().contains(part)))
        })?;
        let count = trimmed(&connection)?;
        Ok(Self { connection, count })
    }

    pub(super) fn insert(&mut self, mail: &Mail, at: Timestamp) -> Result<(), Error> {
        let recipients: Vec<&str> = mail.to.iter().map(Email::as_str).collect();
        let transaction = self.connection.transaction()?;
        transaction
            .prepare_cached(
                "INSERT INTO messages (id, outbox_id, project_id, sender_name, sender_address, recipients, subject, sent_at_millis)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?
            .execute(params![
                message_id(mail.id, mail.attempt),
                mail.id.to_string(),
                mail.project.as_str(),
                mail.from.name,
                mail.from.address,
                serde_json::to_string(&recipients)?,
                mail.subject,
                at.as_millisecond(),
            ])?;
        let number = transaction.last_insert_rowid();
        transaction
            .prepare_cached("INSERT INTO bodies (number, text, unsubscribe, is_automatic, html) VALUES (?1, ?2, ?3, ?4, ?5)")?
            .execute(params![number, mail.text, mail.unsubscribe, mail.is_automatic, mail.html])?;
        if self.count >= KEPT {
            transaction.prepare_cached("DELETE FROM messages WHERE number = (SELECT min(number) FROM messages)")?.execute([])?;
        }
        transaction.commit()?;
        self.count = KEPT.min(self.count + 1);
        Ok(())
    }

    /// Adds the emails that an older version stored; `lines` begins with the oldest. Skips emails
    /// that are already in the inbox. Keeps the [`KEPT`] emails that were sent last, whichever
    /// version stored them.
    pub(super) fn insert_all(&mut self, lines: &[Line]) -> Result<(), Error> {
        let transaction = self.connection.transaction()?;
        for line in &lines[lines.len().saturating_sub(KEPT)..] {
            let sender = line.sender();
            let added = transaction.execute(
                "INSERT OR IGNORE INTO messages
                 (id, outbox_id, sender_name, sender_address, recipients, subject, sent_at_millis, is_read)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 1)",
                params![
                    line.id,
                    line.outbox_id,
                    sender.name,
                    sender.address,
                    serde_json::to_string(&line.to)?,
                    line.subject,
                    line.sent_at_millis
                ],
            )?;
            if added > 0 {
                let number = transaction.last_insert_rowid();
                transaction
                    .execute("INSERT INTO bodies (number, text, html) VALUES (?1, ?2, ?3)", params![number, line.text(), line.html()])?;
            }
        }
        let count = trimmed(&transaction)?;
        transaction.commit()?;
        self.count = count;
        Ok(())
    }

    pub(super) fn find(&self, query: &Query) -> Result<MessagePage, Error> {
        let (condition, values) = condition(query);
        let matching = format!("SELECT number, is_read FROM messages LEFT JOIN bodies USING (number) {condition} ORDER BY number DESC");
        let mut statement = self.connection.prepare_cached(&matching)?;
        let rows = statement.query_map(params_from_iter(values), |row| Ok((row.get(0)?, row.get(1)?)))?;
        let all: Vec<(i64, bool)> = rows.collect::<Result<_, _>>()?;
        let position = query.before.as_deref().map(|before| self.number(before)).transpose()?;
        let older: Vec<i64> =
            all.iter().map(|(number, _)| *number).filter(|number| position.is_none_or(|position| *number < position)).collect();
        let items = older.iter().take(query.limit).map(|number| self.read(*number, query.bodies)).collect::<Result<Vec<_>, _>>()?;
        Ok(MessagePage {
            has_more: older.len() > items.len(),
            items,
            total: all.len(),
            unread: all.iter().filter(|(_, is_read)| !is_read).count(),
        })
    }

    pub(super) fn message(&self, id: &str) -> Result<Message, Error> {
        self.read(self.number(id)?, true)
    }

    pub(super) fn source(&self, id: &str) -> Result<String, Error> {
        let number = self.number(id)?;
        let message = self.read(number, true)?;
        let (from, unsubscribe, is_automatic) = self.connection.query_row(
            "SELECT sender_name, sender_address, unsubscribe, is_automatic FROM messages JOIN bodies USING (number) WHERE number = ?1",
            [number],
            |row| Ok((Sender { name: row.get(0)?, address: row.get(1)? }, row.get(2)?, row.get(3)?)),
        )?;
        let no_source = || Error::NoSource(id.to_owned());
        let present = |text: String| Some(text).filter(|text| !text.is_empty());
        let mail = Mail {
            id: EmailId::parse(&message.outbox_id).map_err(|_| no_source())?,
            // The source of an email contains neither project nor attempt, so their values are
            // placeholders.
            project: ProjectId::internal(),
            attempt: message.sent_at_millis,
            from,
            to: message.to.iter().map(|to| Email::parse(to)).collect::<Result<_, _>>().map_err(|_| no_source())?,
            subject: message.subject,
            html: present(message.html),
            text: present(message.text),
            unsubscribe,
            is_automatic,
            server: None,
        };
        mime::source(&mail, message.at).ok_or_else(no_source)
    }

    pub(super) fn mark(&self, id: &str, read: bool) -> Result<(), Error> {
        changed(id, self.connection.execute("UPDATE messages SET is_read = ?2 WHERE id = ?1", params![id, read])?)
    }

    pub(super) fn delete(&mut self, id: &str) -> Result<(), Error> {
        changed(id, self.connection.execute("DELETE FROM messages WHERE id = ?1", [id])?)?;
        self.count -= 1;
        Ok(())
    }

    pub(super) fn clear(&mut self) -> Result<(), Error> {
        self.connection.execute_batch("BEGIN; DELETE FROM bodies; DELETE FROM messages; COMMIT;")?;
        self.count = 0;
        Ok(())
    }

    pub(super) fn has(&self, id: &str) -> Result<bool, Error> {
        Ok(self.connection.prepare_cached("SELECT 1 FROM messages WHERE id = ?1")?.exists([id])?)
    }

    fn number(&self, id: &str) -> Result<i64, Error> {
        let number = self.connection.query_row("SELECT number FROM messages WHERE id = ?1", [id], |row| row.get(0)).optional()?;
        number.ok_or_else(|| Error::NotFound(id.to_owned()))
    }

    fn read(&self, number: i64, bodies: bool) -> Result<Message, Error> {
        let mut statement = self.connection.prepare_cached(&format!("SELECT {COLUMNS} FROM messages WHERE number = ?1"))?;
        let (mut message, recipients) = statement.query_row([number], message)?;
        message.to = serde_json::from_str(&recipients)?;
        if bodies {
            let mut statement =
                self.connection.prepare_cached("SELECT coalesce(text, ''), coalesce(html, '') FROM bodies WHERE number = ?1")?;
            (message.text, message.html) = statement.query_row([number], |row| Ok((row.get(0)?, row.get(1)?)))?;
        }
        Ok(message)
    }
}

/// Removes all emails except the [`KEPT`] that were sent last; returns the number of remaining
/// emails.
fn trimmed(connection: &Connection) -> rusqlite::Result<usize> {
    let count: usize = connection.query_row("SELECT count(*) FROM messages", [], |row| row.get(0))?;
    if count > KEPT {
        let kept = "SELECT number FROM messages ORDER BY sent_at_millis DESC, number DESC LIMIT ?1";
        connection.execute(&format!("DELETE FROM messages WHERE number NOT IN ({kept})"), [KEPT])?;
    }
    Ok(count.min(KEPT))
}

fn changed(id: &str, rows: usize) -> Result<(), Error> {
    if rows == 0 { Err(Error::NotFound(id.to_owned())) } else { Ok(()) }
}

/// The SQL condition for the recipient, the project and the text of a query, with its parameters.
/// Bodies are read only if the query contains a text.
fn condition(query: &Query) -> (String, Vec<Value>) {
    let (mut conditions, mut values) = (Vec::new(), Vec::new());
    let mut add = |condition: &str, value: String| {
        values.push(Value::Text(value));
        conditions.push(condition.replace('?', &format!("?{}", values.len())));
    };
    if let Some(to) = &query.to {
        add("EXISTS (SELECT 1 FROM json_each(recipients) WHERE value = ? COLLATE NOCASE)", to.trim().to_owned());
    }
    if let Some(project) = &query.project {
        add("project_id = ?", project.clone());
    }
    if let Some(part) = query.q.as_deref().map(str::trim).filter(|part| !part.is_empty()) {
        let listed = "subject || char(10) || sender_name || char(10) || sender_address || char(10) || recipients || char(10) || id";
        // Search the HTML only if there is no text. The text and the HTML have the same content,
        // but the HTML also contains markup.
        let body = "coalesce(nullif(text, ''), html)";
        add(&format!("(has_part({listed}, ?) OR has_part({body}, ?))"), part.to_lowercase());
    }
    let all = if conditions.is_empty() { String::new() } else { format!("WHERE {}", conditions.join(" AND ")) };
    (all, values)
}

/// Converts a row of [`COLUMNS`] to an email without bodies and recipients; also returns the
/// recipients as they are stored.
fn message(row: &Row<'_>) -> rusqlite::Result<(Message, String)> {
    let sent_at_millis: i64 = row.get(7)?;
    let sender = Sender { name: row.get(3)?, address: row.get(4)? };
    let message = Message {
        id: row.get(0)?,
        outbox_id: row.get(1)?,
        project_id: row.get(2)?,
        from: sender.to_string(),
        to: Vec::new(),
        subject: row.get(6)?,
        at: Timestamp::from_millisecond(sent_at_millis).unwrap_or_default(),
        sent_at_millis,
        read: row.get(8)?,
        text: String::new(),
        html: String::new(),
    };
    Ok((message, row.get(5)?))
}
