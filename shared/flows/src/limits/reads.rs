//! Counts what clients read.
//!
//! A large page costs as much as hundreds of small requests. Operations without their own limit
//! therefore count what they read from the table, in units of [`BYTES_PER_READ`]. A request that
//! reads less than one unit is not counted. Each process counts in its own memory, so requests do
//! not wait for a write, and functions that only read do not need permission to write. A request is
//! refused once earlier ones have used up the quota.
//!
//! The owner of an account must be able to read to find an intruder, so reads are counted per
//! session, not per user. For the same reason, a session that has read little can continue reading
//! even if others at its IP address or network have used up the shared quota.
//!
//! Small reads are not counted, so a caller without a session could keep requesting made-up ids. If
//! such a caller requests something that does not exist, the request is counted as if the project
//! were made up ([`unproved`](crate::limits::unproved)).

use model::limit::{BYTES_PER_READ, Counter, Rule, Subject};
use model::place::Place;
use wire::id::{ProjectId, SessionId};

use crate::app::App;

/// A client whose reads are counted.
#[derive(Debug)]
pub struct Reader {
    project: ProjectId,
    session: Option<Counter>,
    places: Vec<Counter>,
    /// The counters of requests for something that does not exist; empty for a client with a
    /// session.
    misses: Vec<Counter>,
}

/// This fraction of a session's quota (one part in `RESERVED`) is reserved for the session, no
/// matter how much other clients at its IP address read.
const RESERVED: u32 = 10;

impl Reader {
    /// A client at this place, with the session of its access token, if any.
    pub fn at(app: &App, project: &ProjectId, place: &Place, session: Option<SessionId>) -> Self {
        let counter = |rule, subject: &Subject| app.settings.limits.counter(rule, subject, app.clock.now());
        let places = [counter(Rule::ReadAddress, &Subject::address(place.ip)), counter(Rule::ReadNetwork, &Subject::network(place.ip))];
        let misses = [counter(Rule::UnprovedNetwork, &Subject::network(place.ip)), counter(Rule::Unproved, &Subject::address(place.ip))];
        Self {
            project: project.clone(),
            session: session.and_then(|session| counter(Rule::Read, &Subject::session(session))),
            places: places.into_iter().flatten().collect(),
            misses: misses.into_iter().flatten().filter(|_| session.is_none()).collect(),
        }
    }

    /// Fails if the client has used up a quota.
    pub fn check(&self, app: &App) -> Result<(), store::Error> {
        let room = |counter| app.memory.room(&self.project, counter).map_err(store::Error::Limited);
        if let Some(session) = &self.session
            && room(session)? < session.quota() / RESERVED
        {
            return Ok(());
        }
        self.places.iter().try_for_each(|counter| room(counter).map(drop))
    }

    /// Counts a request for something that does not exist, unless it came with a session. Fails if
    /// a quota is used up, so that the caller gets no more responses of this kind.
    pub fn missed(&self, app: &App) -> Result<(), store::Error> {
        self.misses.iter().try_for_each(|counter| app.memory.count(counter)).map_err(store::Error::Limited)
    }

    /// Counts a request that read this many bytes.
    pub fn count(&self, app: &App, bytes: usize) {
        let count = u32::try_from(bytes / BYTES_PER_READ).unwrap_or(u32::MAX);
        if count > 0 {
            self.session.iter().chain(&self.places).for_each(|counter| app.memory.spend(&self.project, counter, count));
        }
    }
}
