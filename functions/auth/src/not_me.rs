//! `POST /api/v1/auth/not-me-link`: undoes an account change that the owner did not make, and ends
//! all sessions of the account. If possible, the operation also emails the owner a link for setting
//! a new password.
//!
//! Receives the form on the page behind the "This wasn't me" link of an email about an account. The
//! module [`notice`](model::notice) explains who may undo which changes, and why.

use api::http::TableAction::{DeleteItem, GetItem, PutItem, UpdateItem};
use api::http::client::Caller;
use api::http::{BodyRule, Route};
use api::product::Input;
use api::product::input::IgnoredBody;
use api::product::link_page::{LinkPage, LinkQuery};
use axum::extract::State;
use errors::{Error, ErrorCode};
use flows::App;
use flows::email::code::CodeEmail;
use flows::email::notice::NOT_ME_PATH;
use flows::limits::by_secret;
use model::code::Code;
use model::email::Email;
use model::limit::{Limit, Rule};
use model::notice::{LostCredentials, NotMe, Refusal, Snapshot};
use model::project::Project;
use model::user::{Channel, User};
use store::link::{self, Link};
use store::table::back_off;
use store::user::UserRow;
use store::user::account::{self, Outcome};
use store::{Label, Write, record};

use crate::pages::not_me::{WayBack, done, find, nothing_to_undo, used};

pub const ROUTE: Route = Route::post("auth-not-me", NOT_ME_PATH)
    .summary("Undoes a change that the owner of an account did not make")
    .limit(Limit::Code)
    .body(BodyRule::Ignored)
    .table(&[DeleteItem, GetItem, PutItem, UpdateItem])
    .errors(&[ErrorCode::VerificationCodeNotFound, ErrorCode::VerificationCodeExpired]);

/// The maximum number of attempts. The undo needs one attempt for each email address, provider
/// account or passkey that now belongs to someone else, and a few more if the account changes
/// concurrently.
const MAX_ATTEMPTS: u32 = 20;
/// The maximum number of claims of email addresses, provider accounts and passkeys that fit into
/// one transaction with the other writes of the undo.
const MAX_CLAIMS: usize = 60;

pub async fn handle(State(app): State<App>, caller: Caller, Input { query, .. }: Input<IgnoredBody, LinkQuery>) -> Result<LinkPage, Error> {
    let link = match find(&app, &caller, &query.code).await? {
        Ok(link) => link,
        Err(page) => return Ok(page),
    };
    let (secret, project) = (query.code.text().to_owned().into(), &link.project_id);
    let count = by_secret(&app, project, Rule::Code, &secret);
    let ((), row, project) = tokio::try_join!(count, app.store.user(project, link.user_id), app.store.project(project))?;
    if link.used {
        return Ok(used());
    }
    let (Some(row), Some(project)) = (row, project) else { return Ok(nothing_to_undo()) };
    record::on(&project.project);
    Undo { app: &app, project: &project.project, code: &query.code, link: &link, taken: LostCredentials::default(), squatter: None }
        .run(row)
        .await
}

/// An undo in progress.
struct Undo<'a> {
    app: &'a App,
    project: &'a Project,
    code: &'a Code,
    link: &'a Link<NotMe>,
    taken: LostCredentials,
    /// A user who claims the recipient's email address but has not verified it. `None` until an
    /// attempt finds such a user.
    squatter: Option<UserRow>,
}

impl Undo<'_> {
    async fn run(mut self, mut row: UserRow) -> Result<LinkPage, Error> {
        for attempt in 0..MAX_ATTEMPTS {
            if attempt > 0 {
                back_off(attempt).await;
                match self.app.store.user(&self.project.id, row.user.id).await? {
                    Some(again) => row = again,
                    None => return Ok(nothing_to_undo()),
                }
            }
            if let Some(page) = self.attempt(&row).await? {
                return Ok(page);
            }
        }
        Err(store::Error::Contended.into())
    }

    /// Undoes the change and returns the page to show. In a large account, one attempt undoes only
    /// the first half of the change. Returns `None` if the account must be read again, because the
    /// undo is incomplete or must be done differently.
    async fn attempt(&mut self, row: &UserRow) -> Result<Option<LinkPage>, Error> {
        let mut user = row.user.clone();
        let is_first_half =
            claims(&row.user, self.link) > MAX_CLAIMS && user.undo_additions(&self.link.purpose).is_ok() && !same(&user, row);
        if !is_first_half {
            user = row.user.clone();
            if user.undo(&self.link.purpose, &self.taken) == Err(Refusal) {
                return Ok(Some(nothing_to_undo()));
            }
        }
        let (way_back, writes) = if is_first_half { (WayBack::AsUsual, Vec::new()) } else { self.writes(&user)? };
        match self.write(row, &user, writes).await {
            Ok(Outcome::Done) if !is_first_half => return Ok(Some(done(&self.link.purpose, &way_back))),
            Ok(Outcome::EmailTaken(email)) => self.lose(email).await?,
            Ok(Outcome::AccountTaken(account)) => self.taken.accounts.push(account),
            Ok(Outcome::PasskeyTaken(passkey)) => self.taken.passkeys.push(*passkey),
            Ok(Outcome::Changed | Outcome::Done) => {}
            Err(store::Error::Conflict(conflict)) if conflict.is_of(Label::Code) => return Ok(Some(used())),
            // Another request has changed the user who claims the address.
            Err(store::Error::Conflict(_)) => self.lose(self.link.purpose.email.clone()).await?,
            Err(error) => return Err(error.into()),
        }
        Ok(None)
    }

    /// How the owner can sign in again, and the writes that redeem the link. If possible, the
    /// writes also email a link for setting a new password.
    fn writes(&self, user: &User) -> Result<(WayBack, Vec<Write>), store::Error> {
        let email = &self.link.purpose.email;
        let mut writes = vec![link::redeem::<NotMe>(self.code)];
        if !user.channel_of(email).is_some_and(Channel::signs_in) {
            return Ok((WayBack::Taken, writes));
        }
        let page = self.project.handler_page("password-reset", &self.app.settings.own_pages);
        let Some(page) = page.filter(|_| self.project.config.credential_enabled) else {
            return Ok((WayBack::AsUsual, writes));
        };
        let reset = CodeEmail { app: self.app, project: &self.project.id, callback: &page, now: self.app.clock.now() };
        writes.extend(reset.reset(user, email)?);
        Ok((WayBack::Emailed, writes))
    }

    async fn write(&self, row: &UserRow, user: &User, writes: Vec<Write>) -> Result<Outcome, store::Error> {
        let (store, project) = (&self.app.store, &self.project.id);
        match &self.squatter {
            Some(holder) => {
                let taken = account::TakenAddress { email: &self.link.purpose.email, holder };
                store.take_email(project, row, user, taken, writes).await
            }
            None => store.change_account(project, row, user, writes).await,
        }
    }

    /// Handles an email address of the account that is now another user's sign-in address. The
    /// other user keeps the address, unless that user never verified it and the link was sent to
    /// this address.
    async fn lose(&mut self, email: Email) -> Result<(), store::Error> {
        let (store, project) = (&self.app.store, &self.project.id);
        self.squatter = None;
        if email != self.link.purpose.email {
            self.taken.emails.push(email);
            return Ok(());
        }
        match store.email_claim(project, &email).await? {
            Some(claim) if claim.is_verified => self.taken.emails.push(email),
            Some(claim) => {
                let mut holder = store.user(project, claim.user_id).await?;
                let cedes = holder.as_mut().is_some_and(|holder| holder.user.cede(&email));
                self.squatter = holder.filter(|_| cedes);
            }
            // No user has the email address any more.
            None => {}
        }
        Ok(())
    }
}

fn claims(user: &User, link: &Link<NotMe>) -> usize {
    let restored = link.purpose.before.as_ref().map_or(0, Snapshot::claims);
    user.channels.len() + 2 * user.provider_accounts.len() + user.passkeys.len() + restored
}

/// Whether the user still has the same number of email addresses, provider accounts and passkeys.
fn same(user: &User, row: &UserRow) -> bool {
    let count = |user: &User| (user.channels.len(), user.provider_accounts.len(), user.passkeys.len());
    count(user) == count(&row.user)
}
