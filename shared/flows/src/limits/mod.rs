//! Counts requests against rate limits, and refuses those beyond a limit.
//!
//! A request is counted by its sender while its access is proved, concurrently with the reads of
//! the table. Operations that take an `Access` therefore cannot forget to count, and counting does
//! not cost a round trip. If the process has not seen the project or key yet, the request is
//! counted only after the proof; then the process remembers the project and the key
//! ([`crate::memory`]). The clients of an IP address or a network are counted together in memory,
//! and only every tenth request is written to the table, so counting is free for most requests.
//! Requests that count for a whole project, such as sign-ups by the project's servers, are counted
//! after the proof, so that nobody else can use up the project's quota. Requests with a wrong key,
//! or for a project that does not exist, are counted by IP address ([`unproved`]). Some subjects
//! are known only to the operations, which count them: the account whose password or second factor
//! is guessed ([`Failures`]), a secret such as a refresh token ([`by_secret`]), and the recipient
//! of an email ([`gate`](crate::email::gate)). A client's reads are counted after the response
//! ([`Reader`]).

mod failures;
mod reads;
mod request_count;
mod sender;

use futures_util::future::try_join;
use model::limit::{Counter, Limit, Rule, Subject};
use model::place::Place;
use model::user::User;
use secrecy::SecretString;
use wire::id::{OauthClientId, ProjectId};
use wire::level::Level;

use crate::app::App;
use crate::context::Context;
pub use crate::limits::failures::{Attempt, Failures};
pub use crate::limits::reads::Reader;
pub use crate::limits::request_count::{EarlyCounts, RequestCount};
pub use crate::limits::sender::ClaimedSender;

/// Counts a client's request by IP address and network, once its project is known, for an operation
/// without an `Access`.
pub async fn by_place(app: &App, project: &ProjectId, limit: Limit, place: &Place) -> Result<(), store::Error> {
    let counting = RequestCount::by_place(app, project, limit, place);
    let (early, items) = try_join(counting.early(), app.store.get_many(counting.keys())).await?;
    counting.settle(early, &items).await
}

/// Counts a request of a confidential OAuth client that has proved its secret. The IP address is
/// not counted, because the requests of all the client's users come from the client's servers.
pub async fn by_client(app: &App, project: &ProjectId, rule: Rule, client: OauthClientId) -> Result<(), store::Error> {
    let mut counting = RequestCount::new(app, project);
    counting.add(rule, &Subject::named(&client.to_string()));
    let (early, items) = try_join(counting.early(), app.store.get_many(counting.keys())).await?;
    counting.settle(early, &items).await
}

/// Counts the use of a refresh token, or of an OAuth client's access token. The count is in this
/// process's memory, so it does not cost a write. Check the token first, so that only the token's
/// owner can use up the limit. The requests of an IP address are counted separately, in the table.
pub fn refresh(app: &App, project: &ProjectId, token: &SecretString) -> Result<(), store::Error> {
    let Some(counter) = app.settings.limits.counter(Rule::Token, &Subject::secret(token), app.clock.now()) else { return Ok(()) };
    app.memory.room(project, &counter).map_err(store::Error::Limited)?;
    app.memory.spend(project, &counter, 1);
    Ok(())
}

/// Counts a request by the secret that it presents. Check the secret first, so that only the
/// secret's owner can use up the limit.
pub async fn by_secret(app: &App, project: &ProjectId, rule: Rule, secret: &SecretString) -> Result<(), store::Error> {
    by_subject(app, project, rule, &Subject::secret(secret)).await
}

/// Counts a request by this subject, in the table. A process that has seen a refusal repeats it
/// without a write.
pub async fn by_subject(app: &App, project: &ProjectId, rule: Rule, subject: &Subject) -> Result<(), store::Error> {
    let Some(counter) = app.settings.limits.counter(rule, subject, app.clock.now()) else { return Ok(()) };
    count(app, project, &counter).await
}

async fn count(app: &App, project: &ProjectId, counter: &Counter) -> Result<(), store::Error> {
    if let Some(refusal) = app.memory.refusal(project, counter) {
        return Err(store::Error::Limited(refusal));
    }
    let counted = app.store.count(project, counter).await;
    if let Err(store::Error::Limited(refusal)) = &counted {
        app.memory.refused(project, counter, *refusal);
    }
    counted
}

/// Fails if this process has seen a refusal of this subject that still holds.
pub fn room(app: &App, project: &ProjectId, rule: Rule, subject: &Subject) -> Result<(), store::Error> {
    let counter = app.settings.limits.counter(rule, subject, app.clock.now());
    let refusal = counter.and_then(|counter| app.memory.refusal(project, &counter));
    refusal.map_or(Ok(()), |refusal| Err(store::Error::Limited(refusal)))
}

/// Counts a request by the caller's IP address. For requests with a wrong key; for requests for a
/// project, code or flow that does not exist; and for requests to revoke an exposed key or to check
/// a version. With `project`, which must exist, the count is in the table. Without `project`, the
/// count is in this process's memory, because made-up projects must not create items and operations
/// without a limit may not write to the table.
pub async fn unproved(app: &App, project: Option<&ProjectId>, place: &Place) -> Result<(), store::Error> {
    unknown(app, project, Rule::Unproved, place).await
}

/// Counts a request with an unknown refresh token, authorization code, polling code or device code.
/// The request counts by the caller's IP address instead of by the token or code, so that made-up
/// tokens and codes do not create items.
pub async fn unknown_token(app: &App, project: &ProjectId, place: &Place) -> Result<(), store::Error> {
    unknown(app, Some(project), Rule::TokenUnknown, place).await
}

async fn unknown(app: &App, project: Option<&ProjectId>, rule: Rule, place: &Place) -> Result<(), store::Error> {
    // The network is counted only in memory: its limit is for floods, and counting those in the
    // table would add a write per request.
    if let Some(network) = app.settings.limits.counter(Rule::UnprovedNetwork, &Subject::network(place.ip), app.clock.now()) {
        app.memory.count(&network).map_err(store::Error::Limited)?;
    }
    let Some(counter) = app.settings.limits.counter(rule, &Subject::address(place.ip), app.clock.now()) else { return Ok(()) };
    let Some(project) = project else { return app.memory.count(&counter).map_err(store::Error::Limited) };
    count(app, project, &counter).await
}

/// Counts a client's change that reveals, as a sign-up does, whether an address has an account.
pub async fn like_sign_up(context: &Context) -> Result<(), store::Error> {
    count_client(context, Rule::SignUp, &Subject::address(context.place.ip)).await?;
    count_client(context, Rule::SignUpNetwork, &Subject::network(context.place.ip)).await
}

/// Counts an email with a code that a client's sign-up causes, together with the codes that clients
/// of the same network request.
pub async fn like_sent_code(context: &Context) -> Result<(), store::Error> {
    count_client(context, Rule::SendCodeNetwork, &Subject::network(context.place.ip)).await
}

/// Counts a request in the table if a client sent it.
async fn count_client(context: &Context, rule: Rule, subject: &Subject) -> Result<(), store::Error> {
    if context.level == Level::Client { by_subject(&context.app, &context.project.id, rule, subject).await } else { Ok(()) }
}

/// The counters of a user's change that invalidates codes for the user's unverified email
/// addresses. Someone who created an account with another person's address must not be able to
/// invalidate every code before the owner of the address can use it.
pub fn ended_codes(app: &App, user: &User) -> impl Iterator<Item = Counter> {
    user.unproved().filter_map(|email| app.settings.limits.ended_codes(email, app.clock.now()))
}
