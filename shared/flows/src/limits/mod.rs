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
mod sender;

use futures_util::future::{try_join, try_join_all};
use model::limit::{Counter, Limit, Rule, Subject, SubjectKind};
use model::place::Place;
use model::user::User;
use secrecy::SecretString;
use store::limit::{self, judge};
use store::{Items, Key};
use wire::id::{OauthClientId, ProjectId};
use wire::level::Level;

use crate::app::App;
use crate::context::Context;
pub use crate::limits::failures::{Attempt, Failures};
pub use crate::limits::reads::Reader;
pub use crate::limits::sender::ClaimedSender;

/// A request that is counted while its claims are verified.
pub struct RequestCount<'a> {
    app: &'a App,
    project: &'a ProjectId,
    counters: Vec<Counter>,
    /// The counters that are first counted in memory.
    batched: Vec<Counter>,
    /// How many times the batched counters count the request.
    weight: u32,
    /// The key that must be proved for the caller's counter; `None` if that counter does not need a
    /// key.
    proved_by: Option<Subject>,
    is_after_proof: bool,
}

/// The result of counting concurrently with reading the table: the count of each counter, or `None`
/// if the request has not been counted yet.
#[derive(Debug)]
#[must_use]
pub struct EarlyCounts(Option<Vec<u32>>);

impl<'a> RequestCount<'a> {
    fn new(app: &'a App, project: &'a ProjectId) -> Self {
        Self { app, project, counters: Vec::new(), batched: Vec::new(), weight: 1, proved_by: None, is_after_proof: false }
    }

    /// A client's request, counted by IP address and network, for an operation without an `Access`.
    pub fn by_place(app: &'a App, project: &'a ProjectId, limit: Limit, place: &Place) -> Self {
        let mut counting = Self::new(app, project);
        for (rule, by) in limit.early_rules(true) {
            match by {
                SubjectKind::Address => counting.add(*rule, &Subject::address(place.ip)),
                SubjectKind::Network => counting.add(*rule, &Subject::network(place.ip)),
                SubjectKind::Project | SubjectKind::ApiKey | SubjectKind::Caller | SubjectKind::User | SubjectKind::Session => {}
            }
        }
        counting
    }

    fn add(&mut self, rule: Rule, subject: &Subject) {
        let counter = self.app.settings.limits.counter(rule, subject, self.app.clock.now());
        if rule.is_batched() { &mut self.batched } else { &mut self.counters }.extend(counter);
    }

    /// The keys to read before calling [`Self::settle`].
    pub fn keys(&self) -> impl Iterator<Item = Key> {
        self.counters.iter().map(|counter| limit::key_before(self.project, counter))
    }

    /// Counts concurrently with reading the table, unless the request must be counted after the
    /// proof or its project or key is not known to exist. Fails if a counter is known to be full.
    pub async fn early(&self) -> Result<EarlyCounts, store::Error> {
        for counter in self.counters.iter().chain(&self.batched) {
            if let Some(refusal) = self.app.memory.refusal(self.project, counter) {
                return Err(store::Error::Limited(refusal));
            }
        }
        if self.is_after_proof || !self.is_known() {
            return Ok(EarlyCounts(None));
        }
        Ok(EarlyCounts(Some(self.count().await?)))
    }

    /// Counts the request after its claims have been proved, unless it was counted early, and
    /// decides whether to refuse the request.
    pub async fn settle(&self, early: EarlyCounts, items: &Items) -> Result<(), store::Error> {
        self.remember();
        let counted = match early.0 {
            Some(counted) => counted,
            None => self.count().await?,
        };
        for (counter, counted) in self.counters.iter().zip(counted) {
            let before = limit::counted(items.get(&limit::key_before(self.project, counter)).as_ref());
            self.told(counter, judge(counter, before, counted))?;
        }
        Ok(())
    }

    async fn count(&self) -> Result<Vec<u32>, store::Error> {
        let count = async |counter| self.told(counter, self.app.store.count_alone(self.project, counter).await);
        let batch = async |counter| self.told(counter, self.batch(counter).await);
        let (counted, _) = try_join(try_join_all(self.counters.iter().map(count)), try_join_all(self.batched.iter().map(batch))).await?;
        Ok(counted)
    }

    /// Counts the request in memory, and from time to time in the table.
    async fn batch(&self, counter: &Counter) -> Result<(), store::Error> {
        let count = self.app.memory.batch(self.project, counter, self.weight).map_err(store::Error::Limited)?;
        if count == 0 {
            return Ok(());
        }
        let (before, counted) = self.app.store.add(self.project, counter, count).await?;
        self.app.memory.carried(self.project, counter, before, counted);
        // The count includes this request, so only later requests are refused. Other processes get
        // the count when they add their own requests to it.
        Ok(())
    }

    /// Remembers a refusal.
    fn told<T>(&self, counter: &Counter, result: Result<T, store::Error>) -> Result<T, store::Error> {
        if let Err(store::Error::Limited(refusal)) = &result {
            self.app.memory.refused(self.project, counter, *refusal);
        }
        result
    }

    fn is_known(&self) -> bool {
        let key = self.key_name();
        self.app.memory.has_seen(self.project.as_str()) && key.is_none_or(|name| self.app.memory.has_seen(&name))
    }

    fn remember(&self) {
        self.app.memory.saw(self.project.as_str());
        if let Some(name) = self.key_name() {
            self.app.memory.saw(&name);
        }
    }

    fn key_name(&self) -> Option<String> {
        self.proved_by.as_ref().map(|key| format!("{}#{key}", self.project))
    }
}

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
