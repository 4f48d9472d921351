//! The sender of a request, for which the request is counted while its access is proved.

use crypto::digest::Digest;
use model::limit::{Limit, Subject, SubjectKind};
use model::owned_key::text::KeyText;
use model::place::Place;
use wire::id::{ProjectId, SessionId, UserId};
use wire::level::Level;

use crate::app::App;
use crate::limits::reads::Reader;
use crate::limits::request_count::RequestCount;

/// The sender that a request claims to come from, before the claim is proved.
pub struct ClaimedSender<'a> {
    /// The limit of the operation, if it has one.
    pub limit: Option<Limit>,
    /// The claimed access level.
    pub level: Level,
    /// The claimed project.
    pub project: &'a ProjectId,
    /// The user of the access token; `None` without a token.
    pub user: Option<UserId>,
    /// The session of the access token; `None` without a token.
    pub session: Option<SessionId>,
    /// The user of the admin access token; `None` without a valid token.
    pub owner: Option<UserId>,
    /// The digest of the API key for the claimed level; `None` without a key.
    pub key: Option<&'a Digest>,
    /// The secret API key of a user or team that the operation checks; `None` for operations that
    /// do not check one. Also `None` for a public key, because anyone could use up its limit
    /// through the app.
    pub checked: Option<KeyText>,
    /// Where the request came from.
    pub place: &'a Place,
    /// Whether the request uploads a picture.
    pub uploads: bool,
    /// The length of the body, in bytes.
    pub body_bytes: usize,
}

/// How many bytes of a body count as an additional write, for the limits of an IP address and a
/// network: large writes cost more.
const BYTES_PER_WRITE: usize = 4096;

impl<'a> ClaimedSender<'a> {
    /// The counters for this request. If one of the counters belongs to the whole project, the
    /// request is counted after the proof; otherwise, it may be counted during the proof. A false
    /// claim therefore harms only its sender, with one exception. An access token is known to be
    /// genuine, but its session may have ended; requests with the token still count for the user
    /// until it expires. For this reason, requests that lock an intruder out are counted by session
    /// ([`Limit::SecureAccount`]).
    pub fn counting(&self, app: &'a App) -> RequestCount<'a> {
        let is_client = self.level == Level::Client;
        let limits = [self.limit, Some(Limit::Picture).filter(|_| self.uploads)];
        let mut counting = RequestCount::new(app, self.project);
        counting.weight = u32::try_from(1 + self.body_bytes / BYTES_PER_WRITE).unwrap_or(u32::MAX);
        for (rule, by) in limits.into_iter().flatten().flat_map(|limit| limit.early_rules(is_client)) {
            let subject = match by {
                SubjectKind::Address => Subject::address(self.place.ip),
                SubjectKind::Network => Subject::network(self.place.ip),
                SubjectKind::Caller => {
                    let (subject, proved_by) = self.caller();
                    counting.proved_by = proved_by;
                    subject
                }
                SubjectKind::User => match self.user {
                    Some(user) => Subject::user(user),
                    None => continue,
                },
                SubjectKind::Session => self.session.map_or_else(|| Subject::address(self.place.ip), Subject::session),
                SubjectKind::ApiKey => match &self.checked {
                    Some(key) => Subject::secret(key.secret()),
                    None => continue,
                },
                SubjectKind::Project => {
                    counting.is_after_proof = true;
                    Subject::project()
                }
            };
            counting.add(*rule, &subject);
        }
        counting
    }

    /// The client whose reads are counted; `None` for a request with another limit, and for a
    /// request from a server or administrator.
    pub fn reader(&self, app: &App) -> Option<Reader> {
        let counts = self.level == Level::Client && self.limit.is_none();
        counts.then(|| Reader::at(app, self.project, self.place, self.session))
    }

    /// The subject that the caller counts as, and the key that must be proved first, if there is
    /// one.
    fn caller(&self) -> (Subject, Option<Subject>) {
        match (self.level, self.user, self.owner, self.key) {
            (Level::Client, Some(user), ..) => (Subject::user(user), None),
            (Level::Server | Level::Admin, _, Some(owner), _) => (Subject::user(owner), None),
            (Level::Server | Level::Admin, _, None, Some(key)) => (Subject::digest(key), Some(Subject::digest(key))),
            _ => (Subject::address(self.place.ip), None),
        }
    }
}
