//! The route of an operation: the only place that has its method and path. Everything else is derived from it.

use errors::{ErrorCode, KnownError};
use model::document::DocumentKind;
use model::limit::Limit;
use store::content;
use wire::problem::Problems;

use crate::http::verb::Verb;

/// Memory of a function that hashes no passwords, in MB.
pub const MEMORY: u16 = 256;
/// In MB: with this much memory, a Lambda has one whole core.
pub const HASHING_MEMORY: u16 = 1769;

/// An operation: where it is, and what it may do.
#[derive(Debug, Clone, Copy)]
pub struct Route {
    /// Name of the binary, the Lambda, the event and the test.
    pub name: &'static str,
    pub verb: Verb,
    /// With `{param}` segments, as both axum and API Gateway write them.
    pub path: &'static str,
    pub interface: Interface,
    /// One line for the API document.
    pub summary: &'static str,
    /// What the function's role may do to the table.
    pub table: &'static [TableAction],
    /// Codes of the errors that it answers, besides those of every operation of its interface.
    /// Its own errors, beside those that operations share.
    errors: [&'static [ErrorCode]; 3],
    /// The same of an operation of interface A.
    problems: &'static [&'static str],
    /// What is counted before anything is done. Whatever is no GET has one unless it says otherwise.
    pub limit: Option<Limit>,
    /// In MB; CPU comes with it.
    pub memory: u16,
    /// What is read with who asks, as the request names it.
    pub reads: &'static [Named],
    /// Whether its body may have fields that it does not name; others refuse them.
    pub ignores_unknown_fields: bool,
    /// Whether its body is not read, whatever its media type.
    pub ignores_body: bool,
    /// Whether its senders send forms, and the API document says so. Others may, as every body is read by its media type.
    pub takes_forms: bool,
    /// Whether its errors have the form of RFC 6749 §5.2 too.
    pub has_oauth_errors: bool,
    /// Whether its answers take a least time, which hides what they took.
    pub hides_accounts: bool,
    /// Whether it signs, verifies, seals or opens anything, for which its function has the deployment secret.
    pub uses_secret: bool,
    /// Whether what it changes is told in the trail.
    pub trail: Trail,
    /// Whether users whom an administrator has restricted may do it, although it writes.
    pub is_open_to_restricted: bool,
    /// Patterns of the partition keys that its function may use (`dynamodb:LeadingKeys`); none: those of everything but the public content.
    pub partitions: &'static [&'static str],
}

/// Which of the two interfaces an operation belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interface {
    /// A: public content.
    Content,
    /// B: the product API.
    Product,
}

/// Something that a request names: in its path, its query, its body or its access token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// The user of `user_id`.
    User,
    /// Who signs in with the address of `email`.
    EmailClaim,
    /// The team of `team_id`, with what the signed-in user and the user of `user_id` are in it.
    Team,
    /// The team that the access token names as selected.
    SelectedTeam,
    /// The mail document of `id`.
    Document(DocumentKind),
    /// The entry of the outbox of `id`.
    Mail,
    /// The set of API keys of `id`.
    KeySet,
}

/// Whether an operation leaves an entry in the trail when it changes something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trail {
    Entry,
    /// None, and why.
    Nothing(&'static str),
}

/// Why a GET leaves nothing in the trail.
pub const READS: &str = "it reads";

/// An IAM action of DynamoDB, without its prefix. A transaction needs those of its writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TableAction {
    BatchGetItem,
    ConditionCheckItem,
    DeleteItem,
    GetItem,
    PutItem,
    Query,
    UpdateItem,
}

impl Route {
    /// The error of a request that does not fit the schema of the operation.
    pub fn schema_error(&self, problems: &Problems) -> KnownError {
        KnownError::schema(problems, self.verb.name(), self.path)
    }

    const fn new(name: &'static str, verb: Verb, path: &'static str) -> Self {
        let (limit, trail) = if matches!(verb, Verb::Get) { (None, Trail::Nothing(READS)) } else { (Some(Limit::Write), Trail::Entry) };
        Self {
            name,
            verb,
            path,
            interface: Interface::Product,
            summary: "",
            table: &[],
            errors: [&[]; 3],
            problems: &[],
            limit,
            memory: MEMORY,
            reads: &[],
            ignores_unknown_fields: false,
            ignores_body: false,
            takes_forms: false,
            has_oauth_errors: false,
            hides_accounts: false,
            uses_secret: true,
            trail,
            is_open_to_restricted: false,
            partitions: &[],
        }
    }

    pub const fn get(name: &'static str, path: &'static str) -> Self {
        Self::new(name, Verb::Get, path)
    }

    pub const fn post(name: &'static str, path: &'static str) -> Self {
        Self::new(name, Verb::Post, path)
    }

    pub const fn put(name: &'static str, path: &'static str) -> Self {
        Self::new(name, Verb::Put, path)
    }

    pub const fn patch(name: &'static str, path: &'static str) -> Self {
        Self::new(name, Verb::Patch, path)
    }

    pub const fn delete(name: &'static str, path: &'static str) -> Self {
        Self::new(name, Verb::Delete, path)
    }

    pub const fn summary(self, summary: &'static str) -> Self {
        Self { summary, ..self }
    }

    /// An operation of interface A: it reads the public content alone.
    pub const fn content(self) -> Self {
        Self { interface: Interface::Content, ..self.without_secret().partitions(&[content::PARTITION]) }
    }

    /// For what derives no key of the deployment secret: it can be without it, and so can whoever breaks in. It verifies no token either,
    /// so one that a request has is not looked at.
    pub const fn without_secret(self) -> Self {
        Self { uses_secret: false, ..self }
    }

    /// The partitions of the table that its function may use, where a pattern can say so.
    pub const fn partitions(self, partitions: &'static [&'static str]) -> Self {
        Self { partitions, ..self }
    }

    pub const fn table(self, table: &'static [TableAction]) -> Self {
        Self { table, ..self }
    }

    /// Adds errors that the operation answers beside those that operations share; up to three groups.
    pub const fn errors(mut self, errors: &'static [ErrorCode]) -> Self {
        let mut group = 0;
        while !self.errors[group].is_empty() {
            group += 1;
        }
        self.errors[group] = errors;
        self
    }

    /// What an operation of interface A answers when it fails, beside what they share.
    pub const fn problems(self, problems: &'static [&'static str]) -> Self {
        Self { problems, ..self }
    }

    /// The codes of its own errors, as they are on the wire.
    pub fn codes(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.errors.into_iter().flatten().map(|code| code.name()).chain(self.problems.iter().copied())
    }

    /// What the operation is under in place of [`Limit::Write`].
    pub const fn limit(self, limit: Limit) -> Self {
        Self { limit: Some(limit), ..self }
    }

    /// A POST that writes nothing, and so is under no limit.
    pub const fn writes_nothing(self) -> Self {
        Self { limit: None, ..self.leaves_no_trail("it writes nothing") }
    }

    /// For what writes and changes nothing that anybody has to account for; `reason` says why.
    pub const fn leaves_no_trail(self, reason: &'static str) -> Self {
        Self { trail: Trail::Nothing(reason), ..self }
    }

    /// For what whom an administrator has restricted may send with an access token: signing out, and what somebody without one may send as
    /// well. Everything else but reading is refused whatever the request says it accepts.
    pub const fn open_to_restricted(self) -> Self {
        Self { is_open_to_restricted: true, ..self }
    }

    /// Whether a signed-in user changes something by it or has something sent, for which no administrator may have restricted the user.
    pub fn is_change_of_user(&self) -> bool {
        self.limit.is_some() && !self.is_open_to_restricted
    }

    /// For what answers alike whether or not there is an account, so that the time of the answer tells as little.
    pub const fn hides_accounts(self) -> Self {
        Self { hides_accounts: true, ..self }
    }

    /// For a GET that changes something.
    pub const fn leaves_trail(self) -> Self {
        Self { trail: Trail::Entry, ..self }
    }

    /// What the function's role may do to the table: what the operation does, and to count, and to look whether that was done, and to
    /// write what it leaves in the trail.
    pub fn actions(&self) -> Vec<TableAction> {
        let counting = self.limit.into_iter().flat_map(|_| [TableAction::GetItem, TableAction::UpdateItem]);
        let telling = (self.trail == Trail::Entry).then_some(TableAction::PutItem);
        let mut actions: Vec<TableAction> = self.table.iter().copied().chain(counting).chain(telling).collect();
        actions.sort_unstable();
        actions.dedup();
        actions
    }

    /// For what OAuth has sent as a form; it has unknown fields ignored (RFC 6749 §3.1 and §3.2).
    pub const fn takes_forms(self) -> Self {
        Self { takes_forms: true, ..self.ignores_unknown_fields() }
    }

    /// The token endpoint of OAuth (RFC 6749 §3.2): forms, and errors that every OAuth client reads.
    pub const fn token_endpoint(self) -> Self {
        Self { has_oauth_errors: true, ..self.takes_forms() }
    }

    /// What the request names and the operation needs: it is read in the round trip that reads who asks. `Access` has it at hand.
    pub const fn reads(self, reads: &'static [Named]) -> Self {
        Self { reads, ..self }
    }

    /// For bodies whose senders are not ours to bind.
    pub const fn ignores_unknown_fields(self) -> Self {
        Self { ignores_unknown_fields: true, ..self }
    }

    /// For forms that say by being sent all that there is to say.
    pub const fn ignores_body(self) -> Self {
        Self { ignores_body: true, ignores_unknown_fields: true, ..self }
    }

    /// argon2 takes 19 MiB and as much CPU as there is: with the memory of a whole core it is four times as fast for the same price.
    pub const fn hashes_passwords(self) -> Self {
        Self { memory: HASHING_MEMORY, ..self }
    }

    /// Whether it hashes passwords.
    pub const fn hashes(&self) -> bool {
        self.memory == HASHING_MEMORY
    }

    /// Whether a stranger can make it hash a password or mail a code. Its route has a throttle of its own, so that a flood of such
    /// requests costs little and leaves the rest of the API alone.
    pub const fn is_costly(&self) -> bool {
        self.hashes() || matches!(self.limit, Some(Limit::SendCode))
    }

    /// Whether it renews sessions, which a flood of anything else must not prevent.
    pub const fn renews_sessions(&self) -> bool {
        matches!(self.limit, Some(Limit::Token))
    }

    /// Whether a path is this route's, and so which of its methods there are.
    pub fn matches(&self, path: &str) -> bool {
        let (mut own, mut given) = (self.path.split('/'), path.split('/'));
        loop {
            match (own.next(), given.next()) {
                (None, None) => return true,
                (Some(own), Some(given)) if (own.starts_with('{') && !given.is_empty()) || own == given => {}
                _ => return false,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_one_segment_and_never_empty() {
        let route = Route::get("apps", "/api/v1/apps/{app_id}");
        assert!(route.matches("/api/v1/apps/notes"));
        for path in ["/api/v1/apps", "/api/v1/apps/", "/api/v1/apps/notes/x", "/api/v1/posts/notes"] {
            assert!(!route.matches(path), "{path}");
        }
    }
}
