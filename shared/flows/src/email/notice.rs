//! Emails that notify the owner of an account of changes and sign-ins, with a "This wasn't me"
//! link. [`notice`](model::notice) defines the recipients and the effect of the link. The emails
//! are written in the same transaction as the change.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use model::code::Code;
use model::document::builtin::Builtin;
use model::email::Email;
use model::email::notice::{Kind, Topic};
use model::notice::{Change, NotMe, Recipient, Snapshot, changes};
use model::outbox::codes::{CodeVariable, NOT_ME_LINK};
use model::outbox::{NewEntry, Recipients, Source};
use model::owned_key::OwnedKey;
use model::place::Place;
use model::project::Project;
use model::user::User;
use model::user::totp::{self, Totp};
use serde_json::{Map, Value, json};
use store::Write;
use store::link::Link;
use wire::id::UserId;

use crate::app::App;
use crate::email::gate::{self, Address, Cause};
use crate::email::sealed;

/// The path of the "This wasn't me" link.
pub const NOT_ME_PATH: &str = "/api/v1/auth/not-me-link";

/// The writes that notify users of a change from `before` to `after`; `after` also records the
/// notices. `place` is absent if the recipient must not learn the place, or if a server made the
/// change, because a server's IP address means nothing to the owner.
pub fn about_change(
    app: &App,
    project: &Project,
    place: Option<&Place>,
    before: &User,
    after: &mut User,
) -> Result<Vec<Write>, store::Error> {
    AccountChanges { app, project, place, before, changes: changes(before, after) }.tell(after)
}

/// Like [`about_change`], for a password that was set with an emailed code.
pub fn about_reset(
    app: &App,
    project: &Project,
    place: Option<&Place>,
    before: &User,
    after: &mut User,
) -> Result<Vec<Write>, store::Error> {
    let mut changes = changes(before, after);
    changes.iter_mut().filter(|change| change.kind.topic() == Topic::Password).for_each(|change| change.kind = Kind::PasswordReset);
    AccountChanges { app, project, place, before, changes }.tell(after)
}

/// Like [`about_change`], for a team's new API key that the user created. The link does not remove
/// the key, but using the link invalidates keys that were created earlier
/// ([`Creator`](model::owned_key::Creator)).
pub fn about_team_key(
    app: &App,
    project: &Project,
    place: Option<&Place>,
    (before, after): (&User, &mut User),
    key: &OwnedKey,
) -> Result<Vec<Write>, store::Error> {
    AccountChanges { app, project, place, before, changes: vec![Change::from_new_key(key)] }.tell(after)
}

/// Like [`about_change`], for a refresh token of an OAuth client that was used again after it had
/// been replaced.
pub fn about_replayed_token(
    app: &App,
    project: &Project,
    place: Option<&Place>,
    (before, after): (&User, &mut User),
    client: &str,
) -> Result<Vec<Write>, store::Error> {
    AccountChanges { app, project, place, before, changes: vec![Change::from_replayed_token(client)] }.tell(after)
}

/// The changes to an account, and the place where they were made.
struct AccountChanges<'a> {
    app: &'a App,
    project: &'a Project,
    place: Option<&'a Place>,
    before: &'a User,
    changes: Vec<Change>,
}

impl AccountChanges<'_> {
    fn tell(self, after: &mut User) -> Result<Vec<Write>, store::Error> {
        let Self { app, project, place, before, mut changes } = self;
        let now = app.clock.now();
        after.note_verified(before, now);
        changes.retain(|change| !project.config.disabled_notices.contains(&change.kind.topic()));
        let told = before.told();
        if changes.is_empty() || told.is_empty() {
            return Ok(Vec::new());
        }
        let kinds: Vec<Kind> = changes.iter().map(|change| change.kind).collect();
        // An unverified address may belong to a stranger, whom the account's creator could flood.
        // All changes therefore count as one kind.
        let is_proved = before.channels.iter().any(|channel| channel.is_verified);
        let counted = if is_proved { kinds } else { vec![Kind::AddressAdded] };
        let Some(sent_at) = after.notices.admit(&counted, now) else { return Ok(Vec::new()) };
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
            place,
        };
        notice.writes(told)
    }
}

/// The writes that notify users of a sign-in from a place where the account had not been used
/// before. Only verified addresses are notified. An unverified address may belong to a stranger,
/// whom the account's creator could flood by signing in from many places. Someone who verified an
/// address without a session may be the account's owner; if not, the link lets that person lock the
/// creator out.
pub fn about_sign_in(app: &App, project: &Project, place: &Place, user: &User) -> Result<Vec<Write>, store::Error> {
    let now = app.clock.now();
    let notice = Notice {
        app,
        project,
        user,
        before: snapshot(app, project, user),
        mail: Builtin::NewSignIn,
        variables: facts(Some(place), now),
        sent_at: now,
        place: Some(place),
    };
    notice.writes(user.told().into_iter().filter(|told| Address::of(user, &told.email) != Address::Unproved).collect())
}

/// The template variables for the time and place of an event.
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

/// An email to one of a user's email addresses, from a built-in template.
pub fn new_entry(user: &User, email: Email, mail: Builtin, variables: Map<String, Value>, sent_at: Timestamp) -> NewEntry {
    NewEntry { scheduled_at: Some(sent_at), ..to_address((user.id, email), Source::builtin(mail), variables) }
}

/// An email to this address of a user, from a text that is not a built-in template. The address is
/// fixed, because the user may choose another primary address before the email is sent.
pub fn to_address((user_id, email): (UserId, Email), source: Source, variables: Map<String, Value>) -> NewEntry {
    NewEntry::urgent(Recipients::UserCustomEmails { user_id, emails: vec![email] }, source, variables)
}

/// The snapshot of a user, with secrets resealed under the current deployment secret. Resealing is
/// necessary because a running `gateway reseal` may already be past the place where the link with
/// this snapshot is stored.
fn snapshot(app: &App, project: &Project, user: &User) -> Snapshot {
    let mut snapshot = user.snapshot();
    let owner = totp::owner(&project.id, user.id);
    for authenticator in snapshot.totp.iter_mut().flat_map(Totp::apps_mut) {
        if let Ok(Some(anew)) = app.sealer.renew(&app.entropy, &owner, &authenticator.secret) {
            authenticator.secret = anew;
        }
    }
    snapshot
}

struct Notice<'a> {
    app: &'a App,
    project: &'a Project,
    /// The user before the change or sign-in.
    user: &'a User,
    before: Snapshot,
    mail: Builtin,
    variables: Map<String, Value>,
    sent_at: Timestamp,
    /// The place of the client that made the change.
    place: Option<&'a Place>,
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
            let cause = Cause { address: Address::of(self.user, &email), place: self.place };
            let new = new_entry(self.user, email, self.mail, self.variables.clone(), self.sent_at);
            let link = CodeVariable::link(NOT_ME_LINK, url, &code);
            let entry = sealed::entry(self.app, &self.project.id, new, [link], self.app.clock.now())?;
            writes.push(gate::notice_entry(&self.project.id, cause, entry)?);
        }
        Ok(writes)
    }
}
