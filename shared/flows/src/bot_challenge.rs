//! Requires bot challenges, and checks their solutions.
//!
//! An operation calls [`Check::admit`] once everything else about the request is valid, so that a
//! request that fails for another reason does not use up a solution. The operation then makes its
//! change [while the request is counted](AdmittedRequest::counted_with). The counts of recent
//! requests are read only if the request may need a challenge, which costs an additional round
//! trip.
//!
//! Whether a challenge is required does not depend on whether an account exists, so responses do
//! not reveal accounts.

use errors::{Error, KnownError};
use model::bot_challenge::altcha::{self, Solution};
use model::bot_challenge::rate::{Tally, usual};
use model::bot_challenge::turnstile::{self, Refusal};
use model::bot_challenge::{ChallengeProvider, GuardedOperation, Policy, Turnstile};
use model::limit::{Counter, Rule, Subject};
use model::place::Place;
use model::project::Project;
use model::user::User;
use net::outgoing::Outgoing;
use secrecy::ExposeSecret as _;
use store::Write;
use store::limit::Window;
use wire::id::ProjectId;
use wire::level::Level;

use crate::app::App;
use crate::context::Context;
use crate::literal::{BotChallengePhase, True};

/// Defines the body of an operation that may require a challenge: a struct with the given fields
/// and the challenge fields.
#[macro_export]
macro_rules! guarded_body {
    ($(#[$attribute:meta])* $vis:vis struct $name:ident { $($fields:tt)* }) => {
        $(#[$attribute])*
        #[wire::optional]
        #[derive(deserr::Deserr, utoipa::ToSchema)]
        #[deserr(deny_unknown_fields)]
        $vis struct $name {
            $($fields)*
            bot_challenge_token: Option<String>,
            bot_challenge_phase: Option<$crate::literal::BotChallengePhase>,
            bot_challenge_unavailable: Option<$crate::literal::True>,
        }

        impl $name {
            fn presented(&self) -> $crate::bot_challenge::ChallengeFields {
                $crate::bot_challenge::ChallengeFields {
                    token: self.bot_challenge_token.clone(),
                    phase: self.bot_challenge_phase,
                    unavailable: self.bot_challenge_unavailable,
                }
            }
        }
    };
}

/// The challenge fields of a request.
pub struct ChallengeFields {
    /// The solution; `None` if the request does not contain a solution.
    pub token: Option<String>,
    /// Whether the user saw the challenge; `None` if unknown.
    pub phase: Option<BotChallengePhase>,
    /// Present if the browser could not load the challenge.
    pub unavailable: Option<True>,
}

/// A request that may need a solved challenge.
pub struct Check<'a> {
    app: &'a App,
    project: &'a Project,
    place: &'a Place,
    policy: Policy,
    operation: GuardedOperation,
    /// The user whose emails to unverified email addresses are counted; `None` for other requests.
    sender: Option<Subject>,
}

/// An admitted request that has not been counted yet.
#[must_use = "a flood of requests that are not counted is not detected"]
pub struct AdmittedRequest<'a> {
    app: &'a App,
    project: &'a ProjectId,
    tallies: Vec<Tally>,
    sender: Option<Window>,
}

/// The verdict on a presented solution.
enum Verdict {
    Solved,
    /// The solution is missing or not accepted; the text says why.
    Unsolved(&'static str),
    /// The solution cannot be checked: the browser could not load the challenge, or the provider is
    /// not configured or failed to check the solution.
    Unavailable,
}

impl AdmittedRequest<'_> {
    /// Does the operation's work and counts the request at the same time.
    pub async fn counted_with<T>(self, work: impl Future<Output = T>) -> T {
        tokio::join!(work, self.count()).0
    }

    /// The write that counts the email for its sender; `None` if this sender's emails are not
    /// counted. The write belongs in the transaction with the email, which then fails if the sender
    /// has reached the limit.
    pub fn by_sender(&self) -> Option<Write> {
        self.sender.as_ref().map(|window| window.count(self.project))
    }

    async fn count(&self) {
        self.app.store.count_usual(self.project, &self.tallies).await;
    }
}

/// The tallies of the requests from `place` and of two kinds of requests to `project`: those that
/// start OAuth flows, and those to the other guarded operations.
pub async fn tallies(app: &App, project: &Project, place: &Place) -> Result<Vec<Tally>, store::Error> {
    Ok(app.store.tallies(&project.id, usual_here(app, project, None, place), None).await?.0)
}

fn usual_here(app: &App, project: &Project, operation: Option<GuardedOperation>, place: &Place) -> Vec<Counter> {
    usual(&app.settings.limits, &project.config.bot_challenge, operation, place.ip, app.clock.now())
}

/// The largest excess over a usual rate among these tallies; 0 if there are none.
pub fn excess(tallies: &[Tally]) -> u32 {
    tallies.iter().map(Tally::excess).max().unwrap_or_default()
}

impl<'a> Check<'a> {
    /// The check of a client's request. Servers do not need a challenge: they are trusted to know
    /// on whose behalf they act.
    pub fn new(context: &'a Context, operation: GuardedOperation) -> Self {
        let check = Self::at(&context.app, &context.project, &context.place, operation);
        if context.level >= Level::Server { Self { policy: Policy::Off, ..check } } else { check }
    }

    /// The check of a request without access headers.
    pub fn at(app: &'a App, project: &'a Project, place: &'a Place, operation: GuardedOperation) -> Self {
        Self { app, project, place, policy: project.config.bot_challenge.policy(operation), operation, sender: None }
    }

    /// The check of a client's request that sends an email to a possibly unverified address on
    /// behalf of `sender`. An anonymous user has neither verified an address nor solved a challenge
    /// at sign-up. Anonymous users therefore always need a challenge here, unless challenges are
    /// off.
    pub fn for_email(context: &'a Context, sender: &User) -> Self {
        let check = Self::new(context, GuardedOperation::Email);
        let policy = if check.policy != Policy::Off && sender.is_anonymous { Policy::Always } else { check.policy };
        Self { policy, sender: Some(Subject::user(sender.id)), ..check }
    }

    /// The check of a request without a challenge.
    pub fn none(app: &'a App, project: &'a Project, place: &'a Place) -> Self {
        Self { app, project, place, policy: Policy::Off, operation: GuardedOperation::Email, sender: None }
    }

    /// Admits a request that does not need a challenge, contains a solved one, or is excused
    /// because the challenge cannot be checked. Fails if the request is not admitted.
    pub async fn admit(self, presented: ChallengeFields) -> Result<AdmittedRequest<'a>, Error> {
        let none = AdmittedRequest { app: self.app, project: &self.project.id, tallies: Vec::new(), sender: None };
        if self.policy == Policy::Off {
            return Ok(none);
        }
        let (limits, now) = (&self.app.settings.limits, self.app.clock.now());
        let sender = self.sender.as_ref().and_then(|sender| limits.counter(Rule::SendCodeUser, sender, now));
        let (tallies, sender) =
            self.app.store.tallies(&self.project.id, usual_here(self.app, self.project, Some(self.operation), self.place), sender).await?;
        let excess = excess(&tallies);
        let admitted = AdmittedRequest { tallies, sender, ..none };
        if self.policy == Policy::WhenSuspicious && excess == 0 {
            return Ok(admitted);
        }
        let refused = match self.judge(&presented, excess).await? {
            Verdict::Solved => return Ok(admitted),
            Verdict::Unavailable if self.policy == Policy::WhenSuspicious && self.excuse().await? => return Ok(admitted),
            Verdict::Unavailable => failed("the bot challenge cannot be checked at the moment; try again in a few minutes"),
            Verdict::Unsolved(reason) if presented.phase == Some(BotChallengePhase::Visible) => failed(reason),
            // The app should then show a challenge and repeat the request.
            Verdict::Unsolved(_) => KnownError::BotChallengeRequired,
        };
        // Refused requests count as well, so that a flood is detected as long as it lasts.
        admitted.count().await;
        Err(refused.into())
    }

    async fn judge(&self, presented: &ChallengeFields, excess: u32) -> Result<Verdict, Error> {
        let token = presented.token.as_deref().map(str::trim).filter(|token| !token.is_empty());
        let Some(token) = token else {
            return Ok(presented.unavailable.map_or(Verdict::Unsolved("the bot challenge was not solved"), |_| Verdict::Unavailable));
        };
        match self.project.config.bot_challenge.provider {
            ChallengeProvider::Off => Ok(Verdict::Solved),
            ChallengeProvider::Turnstile => self.judge_turnstile(token).await,
            ChallengeProvider::Altcha => self.judge_altcha(token, excess).await,
        }
    }

    /// Asks Cloudflare to check a token. Cloudflare accepts each token only once. The client's IP
    /// address is not sent, because the browser may have reached Cloudflare from another address,
    /// for example over IPv4 instead of IPv6.
    async fn judge_turnstile(&self, token: &str) -> Result<Verdict, Error> {
        let Some(Turnstile { site_key, secret_key }) = &self.project.config.bot_challenge.turnstile else {
            return Ok(Verdict::Unavailable);
        };
        if token.len() > turnstile::MAX_TOKEN {
            return Ok(Verdict::Unsolved("the bot challenge's token is malformed"));
        }
        let secret = self.app.sealer.open(&Turnstile::secret_owner(self.project.id.as_str(), site_key), secret_key)?;
        let once = self.app.entropy.uuid().to_string();
        let form = [("secret", secret.expose_secret()), ("response", token), ("idempotency_key", &once)];
        let answer = match Outgoing::for_challenges(&self.app.settings, &self.project.id).post(turnstile::ENDPOINT, &form, None).await {
            Ok((_, answer)) => serde_json::from_value::<turnstile::Answer>(answer).map_err(|error| error.to_string()),
            Err(fault) => Err(fault.to_string()),
        };
        let is_trusted = |host: &str| self.project.redirects(&self.app.settings.own_pages).trust_host(host);
        let reason = match answer.map(|answer| answer.judge(self.operation, is_trusted, self.app.clock.now())) {
            Ok(Ok(())) => return Ok(Verdict::Solved),
            Ok(Err(reason @ Refusal::Token(_))) => {
                tracing::info!(%reason, project = %self.project.id, "a bot challenge was not solved");
                return Ok(Verdict::Unsolved("the bot challenge was not solved, or the solution is too old; solve it again"));
            }
            Ok(Err(Refusal::Unjudged(codes))) => codes,
            Err(reason) => reason,
        };
        tracing::warn!(reason, project = %self.project.id, "Turnstile could not check a token");
        Ok(Verdict::Unavailable)
    }

    /// Checks a solution. An accepted solution is used up, even if the request fails afterwards.
    async fn judge_altcha(&self, token: &str, excess: u32) -> Result<Verdict, Error> {
        let now = self.app.clock.now();
        let solution = match Solution::read(token, &self.app.challenge_key, &self.project.id, now) {
            Ok(solution) => solution,
            Err(reason) => return Ok(Verdict::Unsolved(reason.message())),
        };
        if solution.level < altcha::min_level(excess) {
            return Ok(Verdict::Unsolved("the bot challenge is too easy for the current load; solve a new challenge"));
        }
        let is_first = self.app.store.spend_challenge(&self.project.id, &solution.id, solution.forgotten_at()).await?;
        Ok(if is_first { Verdict::Solved } else { Verdict::Unsolved("the bot challenge's solution was used before") })
    }

    /// Admits a limited number of requests whose challenge cannot be checked. If either of the two
    /// limits is off, requests whose challenge cannot be checked are refused. The network's limit
    /// is checked first, so that one network cannot use up the project's limit.
    async fn excuse(&self) -> Result<bool, Error> {
        let subjects =
            [(Rule::ChallengeUnavailableNetwork, Subject::network(self.place.ip)), (Rule::ChallengeUnavailableProject, Subject::project())];
        for (rule, subject) in subjects {
            let Some(counter) = self.app.settings.limits.counter(rule, &subject, self.app.clock.now()) else { return Ok(false) };
            match self.app.store.count(&self.project.id, &counter).await {
                Ok(()) => {}
                Err(store::Error::Limited(_)) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(true)
    }
}

fn failed(message: &str) -> KnownError {
    KnownError::BotChallengeFailed { message: message.to_owned() }
}
