//! Emails that tell the owner of an account what happened to it, with a link "This wasn't me". Who gets them and what the link does is in
//! [`notice`](model::notice); they are written in the transaction of what they tell.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use model::code::Code;
use model::email::Email;
use model::email::category::Category;
use model::notice::kind::{Kind, Topic};
use model::notice::{Change, NotMe, Recipient, Snapshot, changes};
use model::outbox::codes::{Coded, NOT_ME_LINK};
use model::outbox::{Builtin, CreatedWith, NewEntry, OutboxEntry, Recipients, Source};
use model::place::Place;
use model::project::Project;
use model::user::{User, totp};
use serde_json::{Map, Value, json};
use store::link::Link;
use store::{Write, outbox};
use wire::id::EmailId;

use crate::app::App;
use crate::email::sealed;

/// Where the link leads.
pub const NOT_ME_PATH: &str = "/api/v1/auth/not-me-link";

/// Tells of a change of `before` to `after`, which gets what it remembers of it. `place` is absent when a server made the change: its
/// address says nothing to the owner.
pub fn of_change(app: &App, project: &Project, place: Option<&Place>, before: &User, after: &mut User) -> Result<Vec<Write>, store::Error> {
    let changes = changes(before, after);
    of_changes(app, project, place, before, after, changes)
}

/// [`of_change`] by a code from an email that sets a new password.
pub fn of_reset(app: &App, project: &Project, place: Option<&Place>, before: &User, after: &mut User) -> Result<Vec<Write>, store::Error> {
    let mut changes = changes(before, after);
    changes.iter_mut().filter(|change| change.kind.topic() == Topic::Password).for_each(|change| change.kind = Kind::PasswordReset);
    of_changes(app, project, place, before, after, changes)
}

fn of_changes(
    app: &App,
    project: &Project,
    place: Option<&Place>,
    before: &User,
    after: &mut User,
    mut changes: Vec<Change>,
) -> Result<Vec<Write>, store::Error> {
    let now = app.clock.now();
    after.note_verified(before, now);
    changes.retain(|change| !project.config.disabled_notices.contains(&change.kind.topic()));
    let told = before.told();
    if changes.is_empty() || told.is_empty() {
        return Ok(Vec::new());
    }
    let kinds: Vec<Kind> = changes.iter().map(|change| change.kind).collect();
    let Some(sent_at) = after.notices.admit(&kinds, now) else { return Ok(Vec::new()) };
    let mut variables = facts(place, now);
    variables.insert("changes".to_owned(), json!(changes));
    variables.insert("is_last".to_owned(), json!(sent_at > now));
    let notice = Notice {
        app,
        project,
        user: before,
        before: snapshot(app, project, before).without_wishes(after),
        mail: Builtin::AccountChanged,
        variables,
        sent_at,
    };
    notice.writes(told)
}

/// Tells of a sign-in from a place that the account was not used at before.
pub fn of_sign_in(app: &App, project: &Project, place: &Place, user: &User) -> Result<Vec<Write>, store::Error> {
    let now = app.clock.now();
    let notice = Notice {
        app,
        project,
        user,
        before: snapshot(app, project, user),
        mail: Builtin::NewSignIn,
        variables: facts(Some(place), now),
        sent_at: now,
    };
    notice.writes(user.told())
}

/// When and where something happened, as emails tell it.
pub fn facts(place: Option<&Place>, now: Timestamp) -> Map<String, Value> {
    Map::from_iter([
        ("time".to_owned(), json!(spelled(now))),
        ("address".to_owned(), json!(place.map(|place| place.ip))),
        ("place".to_owned(), json!(place.and_then(Place::name))),
    ])
}

fn spelled(time: Timestamp) -> String {
    time.to_zoned(TimeZone::UTC).strftime("%-d %B %Y, %H:%M UTC").to_string()
}

/// Writes an email about a user to an address, with nothing that anybody could use.
pub fn entry(
    app: &App,
    project: &Project,
    user: &User,
    email: Email,
    mail: Builtin,
    variables: Map<String, Value>,
    sent_at: Timestamp,
) -> Result<Write, store::Error> {
    let new = new_entry(user, email, mail, variables, sent_at);
    outbox::create(&project.id, &OutboxEntry::new(EmailId::from(app.entropy.uuid()), new, app.clock.now()))
}

fn new_entry(user: &User, email: Email, mail: Builtin, variables: Map<String, Value>, sent_at: Timestamp) -> NewEntry {
    NewEntry {
        to: Recipients::UserCustomEmails { user_id: user.id, emails: vec![email] },
        source: Source::builtin(mail),
        variables,
        category: Category::Transactional,
        is_high_priority: true,
        created_with: CreatedWith::ProgrammaticCall,
        scheduled_at: Some(sent_at),
    }
}

/// How a user signs in, with nothing in it that the previous deployment secret sealed: who seals stored values anew has passed a link that
/// is written now.
fn snapshot(app: &App, project: &Project, user: &User) -> Snapshot {
    let mut snapshot = user.snapshot();
    if let Some(totp) = &mut snapshot.totp
        && let Ok(Some(anew)) = app.sealer.renew(&app.entropy, &totp::owner(&project.id, user.id), &totp.secret)
    {
        totp.secret = anew;
    }
    snapshot
}

struct Notice<'a> {
    app: &'a App,
    project: &'a Project,
    /// As it was before what is told.
    user: &'a User,
    before: Snapshot,
    mail: Builtin,
    variables: Map<String, Value>,
    sent_at: Timestamp,
}

impl Notice<'_> {
    fn writes(&self, told: Vec<Recipient>) -> Result<Vec<Write>, store::Error> {
        let mut writes = Vec::new();
        for Recipient { email, may_undo } in told {
            let code = Code::new(self.app.entropy.code());
            let before = may_undo.then(|| self.before.clone());
            let not_me = NotMe { email: email.clone(), since: self.user.notices.next(), before };
            writes.push(Link::new(&self.project.id, self.user.id, not_me, self.sent_at).create(&code)?);
            let url = format!("{}{NOT_ME_PATH}?code={}", self.app.settings.api_url, code.text());
            let new = new_entry(self.user, email, self.mail, self.variables.clone(), self.sent_at);
            let link = Coded::link(NOT_ME_LINK, url, &code);
            let entry = sealed::entry(self.app, &self.project.id, new, [link], self.app.clock.now())?;
            writes.push(outbox::create(&self.project.id, &entry)?);
        }
        Ok(writes)
    }
}
