//! Asking for bot challenges, and checking what is presented.
//!
//! An operation calls [`Check::admit`] when everything else about the request is in order, so that no solution is used up by a request
//! that fails anyway, and makes its change [beside](Admitted::beside) the count of the request. The rates that decide what is suspicious
//! are read only for a project that asks for challenges: one round trip more for it, and nothing for others.
//!
//! Nothing here looks at whether an account exists: who is asked for a challenge learns nothing of that.

use errors::{Error, KnownError};
use model::bot_challenge::altcha::{self, Solution};
use model::bot_challenge::rate::{Tally, usual};
use model::bot_challenge::turnstile::{self, Rejected};
use model::bot_challenge::{ChallengeProvider, Guarded, Policy, Turnstile};
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

/// The body of an operation that may ask for a challenge: a struct with the fields that are written here, and what the request says of
/// the challenge.
#[macro_export]
macro_rules! guarded_body {
    ($(#[$attribute:meta])* $vis:vis struct $name:ident { $($fields:tt)* }) => {
        $(#[$attribute])*
        #[derive(deserr::Deserr, utoipa::ToSchema)]
        #[deserr(deny_unknown_fields)]
        $vis struct $name {
            $($fields)*
            #[deserr(default)]
            bot_challenge_token: Option<String>,
            #[deserr(default)]
            bot_challenge_phase: Option<$crate::literal::BotChallengePhase>,
            #[deserr(default)]
            bot_challenge_unavailable: Option<$crate::literal::True>,
        }

        impl $name {
            fn presented(&self) -> $crate::bot_challenge::Presented {
                $crate::bot_challenge::Presented {
                    token: self.bot_challenge_token.clone(),
                    phase: self.bot_challenge_phase,
                    unavailable: self.bot_challenge_unavailable,
                }
            }
        }
    };
}

/// What a request says of a challenge.
pub struct Presented {
    pub token: Option<String>,
    pub phase: Option<BotChallengePhase>,
    pub unavailable: Option<True>,
}

/// A request that may have to bring a solved challenge.
pub struct Check<'a> {
    app: &'a App,
    project: &'a Project,
    place: &'a Place,
    policy: Policy,
    operation: Guarded,
    /// Whose emails to strangers are counted.
    sender: Option<Subject>,
}

/// A request that is let through, and is still to be counted.
#[must_use = "a request that is not counted never becomes suspicious"]
pub struct Admitted<'a> {
    app: &'a App,
    project: &'a ProjectId,
    tallies: Vec<Tally>,
    sender: Option<Window>,
}

/// What became of what was presented.
enum Verdict {
    Solved,
    /// There was nothing, or it is wrong.
    Unsolved(&'static str),
    /// Nobody can tell: the browser could not load the challenge, or the provider does not judge it.
    Unavailable,
}

impl Admitted<'_> {
    /// Does the operation's work, and counts the request at the same time.
    pub async fn beside<T>(self, work: impl Future<Output = T>) -> T {
        tokio::join!(work, self.count()).0
    }

    /// Counts the email by who asks for it: goes into the transaction that writes the email, and refuses it at the limit.
    pub fn by_sender(&self) -> Option<Write> {
        self.sender.as_ref().map(|window| window.count(self.project))
    }

    async fn count(&self) {
        self.app.store.count_usual(self.project, &self.tallies).await;
    }
}

/// How often requests of whatever operation came from a place and for a project.
pub async fn tallies(app: &App, project: &Project, place: &Place) -> Result<Vec<Tally>, store::Error> {
    Ok(app.store.tallies(&project.id, usual_here(app, project, None, place), None).await?.0)
}

fn usual_here(app: &App, project: &Project, operation: Option<Guarded>, place: &Place) -> Vec<Counter> {
    usual(&app.settings.limits, &project.config.bot_challenge, operation, place.ip, app.clock.now())
}

/// How far above its usual rate the most conspicuous of some is: 0 for none.
pub fn excess(tallies: &[Tally]) -> u32 {
    tallies.iter().map(Tally::excess).max().unwrap_or_default()
}

impl<'a> Check<'a> {
    /// A request of a client. The servers of a project are trusted to know whom they act for.
    pub fn of(context: &'a Context, operation: Guarded) -> Self {
        let check = Self::at(&context.app, &context.project, &context.place, operation);
        if context.level >= Level::Server { Self { policy: Policy::Off, ..check } } else { check }
    }

    /// A request without the headers of an access.
    pub fn at(app: &'a App, project: &'a Project, place: &'a Place, operation: Guarded) -> Self {
        Self { app, project, place, policy: project.config.bot_challenge.policy(operation), operation, sender: None }
    }

    /// A client's request by which `sender` has the project email an address that nobody may have proved. Whoever is anonymous has
    /// neither proved an address nor passed a challenge at sign-up, and is always asked for one.
    pub fn of_email(context: &'a Context, sender: &User) -> Self {
        let check = Self::of(context, Guarded::Email);
        let policy = if check.policy != Policy::Off && sender.is_anonymous { Policy::Always } else { check.policy };
        Self { policy, sender: Some(Subject::user(sender.id)), ..check }
    }

    /// The check of a request that asks for none.
    pub fn none(app: &'a App, project: &'a Project, place: &'a Place) -> Self {
        Self { app, project, place, policy: Policy::Off, operation: Guarded::Email, sender: None }
    }

    /// Lets the request through, or asks for a challenge.
    pub async fn admit(self, presented: Presented) -> Result<Admitted<'a>, Error> {
        let none = Admitted { app: self.app, project: &self.project.id, tallies: Vec::new(), sender: None };
        if self.policy == Policy::Off {
            return Ok(none);
        }
        let (limits, now) = (&self.app.settings.limits, self.app.clock.now());
        let sender = self.sender.as_ref().and_then(|sender| limits.counter(Rule::SendCodeUser, sender, now));
        let (tallies, sender) =
            self.app.store.tallies(&self.project.id, usual_here(self.app, self.project, Some(self.operation), self.place), sender).await?;
        let excess = excess(&tallies);
        let admitted = Admitted { tallies, sender, ..none };
        if self.policy == Policy::WhenSuspicious && excess == 0 {
            return Ok(admitted);
        }
        let refused = match self.judge(&presented, excess).await? {
            Verdict::Solved => return Ok(admitted),
            Verdict::Unavailable if self.policy == Policy::WhenSuspicious && self.excuse().await? => return Ok(admitted),
            Verdict::Unavailable => failed("the bot challenge cannot be checked at the moment; try again in a few minutes"),
            Verdict::Unsolved(reason) if presented.phase == Some(BotChallengePhase::Visible) => failed(reason),
            // The app shows the challenge, and sends the request again.
            Verdict::Unsolved(_) => KnownError::BotChallengeRequired,
        };
        // A flood stays one for as long as it goes on.
        admitted.count().await;
        Err(refused.into())
    }

    async fn judge(&self, presented: &Presented, excess: u32) -> Result<Verdict, Error> {
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

    /// Cloudflare takes a token once. The address is not sent along: a browser may have another one there (IPv4 and IPv6).
    async fn judge_turnstile(&self, token: &str) -> Result<Verdict, Error> {
        let Some(Turnstile { site_key, secret_key }) = &self.project.config.bot_challenge.turnstile else {
            return Ok(Verdict::Unavailable);
        };
        if token.len() > turnstile::MAX_TOKEN {
            return Ok(Verdict::Unsolved("the token of the bot challenge is not one"));
        }
        let secret = self.app.sealer.open(&Turnstile::secret_owner(self.project.id.as_str(), site_key), secret_key)?;
        let once = self.app.entropy.uuid().to_string();
        let form = [("secret", secret.expose_secret()), ("response", token), ("idempotency_key", &once)];
        let answer = match Outgoing::new(&self.app.settings).post(turnstile::ENDPOINT, &form, None).await {
            Ok((_, answer)) => serde_json::from_value::<turnstile::Answer>(answer).map_err(|error| error.to_string()),
            Err(fault) => Err(fault.to_string()),
        };
        let reason = match answer.map(|answer| answer.judge(self.operation, &self.project.redirects(), self.app.clock.now())) {
            Ok(Ok(())) => return Ok(Verdict::Solved),
            Ok(Err(reason @ Rejected::Token(_))) => {
                tracing::info!(%reason, project = %self.project.id, "a bot challenge is not solved");
                return Ok(Verdict::Unsolved("the bot challenge was not solved, or too long ago; solve it again"));
            }
            Ok(Err(Rejected::Unjudged(codes))) => codes,
            Err(reason) => reason,
        };
        tracing::warn!(reason, project = %self.project.id, "Turnstile does not judge a token");
        Ok(Verdict::Unavailable)
    }

    /// A solution is used up by being looked at, whatever becomes of the request.
    async fn judge_altcha(&self, token: &str, excess: u32) -> Result<Verdict, Error> {
        let now = self.app.clock.now();
        let solution = match Solution::read(token, &self.app.challenge_key, &self.project.id, now) {
            Ok(solution) => solution,
            Err(reason) => return Ok(Verdict::Unsolved(reason.message())),
        };
        if solution.level < altcha::least_level(excess) {
            return Ok(Verdict::Unsolved("the bot challenge was made in calmer times; solve another one"));
        }
        let is_first = self.app.store.spend_challenge(&self.project.id, &solution.id, solution.forgotten_at()).await?;
        Ok(if is_first { Verdict::Solved } else { Verdict::Unsolved("the solution of the bot challenge was used before") })
    }

    /// Lets a few through whose challenge nobody can judge: of a network first, so that one network does not use up what is the
    /// project's.
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
