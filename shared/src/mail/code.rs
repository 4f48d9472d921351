//! Mails that carry a code: the code, and the entry of the outbox that takes it to its recipient, written together. The recipient is
//! counted in the same transaction, so nothing mails a code uncounted.

use jiff::Timestamp;
use serde_json::{Map, json};

use crate::App;
use crate::model::code::{Code, Purpose, StoredCode};
use crate::model::id::{EmailId, ProjectId, UserId};
use crate::model::outbox::{Builtin, Category, CreatedWith, NewEntry, OutboxEntry, Recipients, Source};
use crate::model::redirect::RedirectUrl;
use crate::model::session::after;
use crate::model::user::Channel;
use crate::product_api::access::Level;
use crate::product_api::limits;
use crate::store::{self, Write, codes, outbox};

/// Writes a new code and the mail with its link; the link is `callback` with the query parameter `code` (SPEC.md, Endpoints). How many
/// a recipient may get depends on the access by which it is asked for.
pub fn writes(
    app: &App,
    project: &ProjectId,
    level: Level,
    stored: &StoredCode,
    mail: Builtin,
    callback: &RedirectUrl,
    now: Timestamp,
) -> Result<(Code, Vec<Write>), store::Error> {
    let (code, entry) = code_and_entry(app, stored, mail, callback, now);
    let mail = outbox::create(project, &entry)?;
    let writes = with_mail(app, project, level, stored, &code, mail)?;
    Ok((code, writes))
}

/// Writes what looks and costs like [`writes`] and mails nothing: a code that nobody gets. For recipients who must not be told apart.
pub fn decoys(
    app: &App,
    project: &ProjectId,
    level: Level,
    stored: &StoredCode,
    mail: Builtin,
    callback: &RedirectUrl,
    now: Timestamp,
) -> Result<Vec<Write>, store::Error> {
    let (code, entry) = code_and_entry(app, stored, mail, callback, now);
    with_mail(app, project, level, stored, &code, outbox::create_decoy(project, &entry, now)?)
}

/// The code, its mail, and the count of its recipient.
fn with_mail(
    app: &App,
    project: &ProjectId,
    level: Level,
    stored: &StoredCode,
    code: &Code,
    mail: Write,
) -> Result<Vec<Write>, store::Error> {
    let count = limits::recipient(app, project, level, &stored.email);
    Ok([codes::create(project, code, stored)?, mail].into_iter().chain(count).collect())
}

fn code_and_entry(app: &App, stored: &StoredCode, mail: Builtin, callback: &RedirectUrl, now: Timestamp) -> (Code, OutboxEntry) {
    let code = Code::new(app.entropy.code());
    let variables = Map::from_iter([
        ("link".to_owned(), json!(callback.with_query("code", code.text()))),
        ("otp".to_owned(), json!(code.typed())),
        ("email".to_owned(), json!(stored.email)),
    ]);
    let emails = vec![stored.email.clone()];
    let to = match stored.user_id {
        Some(user_id) => Recipients::UserCustomEmails { user_id, emails },
        None => Recipients::CustomEmails { emails },
    };
    let new = NewEntry {
        to,
        source: Source::builtin(mail),
        variables,
        category: Category::Transactional,
        is_high_priority: true,
        created_with: CreatedWith::ProgrammaticCall,
        scheduled_at: None,
    };
    (code, OutboxEntry::new(EmailId::from(app.entropy.uuid()), new, now))
}

/// Writes a code that verifies an address of a user, and its mail.
pub fn verification(
    app: &App,
    project: &ProjectId,
    level: Level,
    user: UserId,
    channel: &Channel,
    callback: &RedirectUrl,
    now: Timestamp,
) -> Result<Vec<Write>, store::Error> {
    let stored = StoredCode {
        purpose: Purpose::VerifyEmail,
        email: channel.value.clone(),
        user_id: Some(user),
        channel_id: Some(channel.id),
        expires_at: after(now, Purpose::VerifyEmail.life()),
        used: false,
    };
    writes(app, project, level, &stored, Builtin::VerifyEmail, callback, now).map(|(_, writes)| writes)
}
