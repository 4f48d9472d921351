//! The route of an operation: the only place with its method and path. Everything else that depends
//! on them is derived from the route.

use errors::{ErrorCode, KnownError};
use model::limit::Limit;
use model::project::key_permission::{KeyAction, KeyPermission};
use store::content;
use wire::problem::Problems;

use crate::http::interface::Interface;
use crate::http::needs::{Named, READS, TableAction, Trail};
use crate::http::verb::Verb;

/// Memory of the function of an operation that hashes no passwords, in MB.
pub const MEMORY: u16 = 256;
/// Memory of a function that hashes passwords, in MB: with this much, a Lambda has a whole core.
pub const HASHING_MEMORY: u16 = 1769;

/// An operation: its method and path, and what it may do.
#[derive(Debug, Clone, Copy)]
pub struct Route {
    /// Name of the binary and the Lambda, such as `users-me-read`; it begins with the area.
    pub name: &'static str,
    /// The method.
    pub verb: Verb,
    /// The path, with `{param}` segments as both axum and API Gateway write them.
    pub path: &'static str,
    /// The interface that the operation belongs to.
    pub interface: Interface,
    /// One line for the API document.
    pub summary: &'static str,
    /// The actions on the table that the operation itself needs; [`Self::actions`] adds those that
    /// the layers around it need.
    pub table: &'static [TableAction],
    /// Codes of the operation's own errors, besides those common to its interface.
    errors: [&'static [ErrorCode]; 3],
    /// The codes of the operation's own errors, if it belongs to the content API.
    problems: &'static [&'static str],
    /// The media types of the documents that the operation answers with, as in the API document.
    pub media: &'static [&'static str],
    /// The rate limit that requests count against; `None` for no limit. By default, GET has none
    /// and all others have [`Limit::Write`].
    pub limit: Option<Limit>,
    /// The function's memory, in MB; its CPU is proportional to its memory.
    pub memory: u16,
    /// Items fetched in the authentication round trip.
    pub reads: &'static [Named],
    /// Whether unknown fields of the body are ignored; other operations that take a body refuse
    /// them.
    pub ignores_unknown_fields: bool,
    /// Whether the body is not read, whatever its media type.
    pub ignores_body: bool,
    /// Whether the API document describes the body as a form. All operations of the product API
    /// accept forms.
    pub takes_forms: bool,
    /// Whether the operation's errors also have the form of RFC 6749 §5.2.
    pub has_oauth_errors: bool,
    /// Whether the operation's responses take a minimum time, which hides whether accounts exist.
    pub hides_accounts: bool,
    /// Whether the operation, and thus its function, needs keys derived from the deployment secret.
    pub uses_secret: bool,
    /// Whether the operation calls OAuth providers, and thus needs the secrets of shared clients.
    pub calls_providers: bool,
    /// Whether the operation serves images of the content, and thus may read their bucket.
    pub serves_images: bool,
    /// Whether the operation needs to know if the deployment has the console.
    pub leads_to_console: bool,
    /// Whether the operation records its changes in the trail.
    pub trail: Trail,
    /// Whether the operation, if it has a limit, permits users whom an administrator restricted.
    pub is_open_to_restricted: bool,
    /// Whether the operation, if it has a limit, permits sessions that owe a second factor.
    pub is_open_to_owing: bool,
    /// Patterns of the partition keys that the function may access (`dynamodb:LeadingKeys`). If
    /// empty, the function may access all partitions except the public content.
    pub partitions: &'static [&'static str],
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
            media: &[],
            limit,
            memory: MEMORY,
            reads: &[],
            ignores_unknown_fields: false,
            ignores_body: false,
            takes_forms: false,
            has_oauth_errors: false,
            hides_accounts: false,
            uses_secret: true,
            calls_providers: false,
            serves_images: false,
            leads_to_console: false,
            trail,
            is_open_to_restricted: false,
            is_open_to_owing: false,
            partitions: &[],
        }
    }

    /// GET of `path`; `name` is that of the binary.
    pub const fn get(name: &'static str, path: &'static str) -> Self {
        Self::new(name, Verb::Get, path)
    }

    /// POST of `path`; `name` is that of the binary.
    pub const fn post(name: &'static str, path: &'static str) -> Self {
        Self::new(name, Verb::Post, path)
    }

    /// PUT of `path`; `name` is that of the binary.
    pub const fn put(name: &'static str, path: &'static str) -> Self {
        Self::new(name, Verb::Put, path)
    }

    /// PATCH of `path`; `name` is that of the binary.
    pub const fn patch(name: &'static str, path: &'static str) -> Self {
        Self::new(name, Verb::Patch, path)
    }

    /// DELETE of `path`; `name` is that of the binary.
    pub const fn delete(name: &'static str, path: &'static str) -> Self {
        Self::new(name, Verb::Delete, path)
    }

    /// Sets the operation's line in the API document.
    pub const fn summary(self, summary: &'static str) -> Self {
        Self { summary, ..self }
    }

    /// For an operation of the content API, which reads only the public content.
    pub const fn content(self) -> Self {
        Self { interface: Interface::Content, ..self.without_secret().partitions(&[content::PARTITION]) }
    }

    /// For an operation that agents call, which reads only the public content.
    pub const fn for_agents(self) -> Self {
        Self { interface: Interface::Agents, ..self.content().writes_nothing() }
    }

    /// For operations that use no key derived from the deployment secret. Their functions are not
    /// given the secret, so an attacker who breaks into one does not get it. Such functions cannot
    /// verify access tokens, and therefore ignore them.
    pub const fn without_secret(self) -> Self {
        Self { uses_secret: false, ..self }
    }

    /// For operations that call OAuth providers. Only their functions are given the secrets of the
    /// deployment's own clients.
    pub const fn calls_providers(self) -> Self {
        Self { calls_providers: true, ..self }
    }

    /// For operations that serve images of the content. Only their functions may read the bucket of
    /// these images.
    pub const fn serves_images(self) -> Self {
        Self { serves_images: true, ..self }
    }

    /// For operations that redirect to the console. Their functions are told whether the deployment
    /// has it (`GATELET_CONSOLE`).
    pub const fn leads_to_console(self) -> Self {
        Self { leads_to_console: true, ..self }
    }

    /// Restricts the function to the partitions of the table that match these patterns.
    pub const fn partitions(self, partitions: &'static [&'static str]) -> Self {
        Self { partitions, ..self }
    }

    /// Sets the actions on the table that the operation itself needs.
    pub const fn table(self, table: &'static [TableAction]) -> Self {
        Self { table, ..self }
    }

    /// Adds a group of the operation's own errors; an operation can have at most three groups.
    pub const fn errors(mut self, errors: &'static [ErrorCode]) -> Self {
        let mut group = 0;
        while !self.errors[group].is_empty() {
            group += 1;
        }
        self.errors[group] = errors;
        self
    }

    /// Sets the operation's own errors, for an operation of the content API.
    pub const fn problems(self, problems: &'static [&'static str]) -> Self {
        Self { problems, ..self }
    }

    /// Sets the media types of the operation's documents. If JSON is one among others, ranges
    /// (`text/*`) stand for them: generated clients parse answers as the first type that they know.
    pub const fn media(self, media: &'static [&'static str]) -> Self {
        Self { media, ..self }
    }

    /// The codes of the operation's own errors, as they appear on the wire.
    pub fn codes(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.errors.into_iter().flatten().map(|code| code.name()).chain(self.problems.iter().copied())
    }

    /// Sets the rate limit, instead of the default: [`Limit::Write`], or none for a GET.
    pub const fn limit(self, limit: Limit) -> Self {
        Self { limit: Some(limit), ..self }
    }

    /// For an operation that is not a GET but writes nothing, and therefore has no rate limit
    /// unless [`Self::limit`] follows.
    pub const fn writes_nothing(self) -> Self {
        Self { limit: None, ..self.leaves_no_trail("it writes nothing") }
    }

    /// For an operation whose writes need no record; `reason` says why.
    pub const fn leaves_no_trail(self, reason: &'static str) -> Self {
        Self { trail: Trail::Nothing(reason), ..self }
    }

    /// Permits access tokens of users whom an administrator has restricted, and of sessions that
    /// owe a second factor. All other operations with a rate limit reject them.
    pub const fn open_to_restricted(self) -> Self {
        Self { is_open_to_restricted: true, is_open_to_owing: true, ..self }
    }

    /// Permits access tokens of sessions that owe a required second factor.
    pub const fn open_to_owing(self) -> Self {
        Self { is_open_to_owing: true, ..self }
    }

    /// For operations whose responses must not reveal whether an account exists, not even by their
    /// timing.
    pub const fn hides_accounts(self) -> Self {
        Self { hides_accounts: true, ..self }
    }

    /// Records the operation's changes in the trail, for a GET that changes something.
    pub const fn leaves_trail(self) -> Self {
        Self { trail: Trail::Entry, ..self }
    }

    /// What the function's role may do to the table: the operation's own actions, and those for
    /// counting requests, for reading the counts, and for writing the trail.
    pub fn actions(&self) -> Vec<TableAction> {
        let counting = if self.limit.is_some_and(Limit::is_in_table) { &[TableAction::GetItem, TableAction::UpdateItem][..] } else { &[] };
        let telling = (self.trail == Trail::Entry).then_some(TableAction::PutItem);
        let mut actions: Vec<TableAction> = self.table.iter().chain(counting).copied().chain(telling).collect();
        actions.sort_unstable();
        actions.dedup();
        actions
    }

    /// For OAuth requests sent as forms; unknown fields are ignored (RFC 6749 §3.1 and §3.2).
    pub const fn takes_forms(self) -> Self {
        Self { takes_forms: true, ..self.ignores_unknown_fields() }
    }

    /// For the token endpoint and the device authorization endpoint of OAuth (RFC 6749 §3.2, RFC
    /// 8628 §3.1): forms, and errors that every OAuth client understands.
    pub const fn token_endpoint(self) -> Self {
        Self { has_oauth_errors: true, ..self.takes_forms() }
    }

    /// Sets the items fetched in the authentication round trip, which `Access` then contains.
    pub const fn reads(self, reads: &'static [Named]) -> Self {
        Self { reads, ..self }
    }

    /// For operations whose callers may add fields that this service does not know.
    pub const fn ignores_unknown_fields(self) -> Self {
        Self { ignores_unknown_fields: true, ..self }
    }

    /// For operations whose body does not matter, such as those that an HTML form calls.
    pub const fn ignores_body(self) -> Self {
        Self { ignores_body: true, ignores_unknown_fields: true, ..self }
    }

    /// For operations that hash passwords. Argon2 by default takes 19 MiB, and as much CPU as it
    /// gets. CPU and price are both proportional to the function's memory, so with the memory for a
    /// whole core a hash takes a fraction of the time and costs about the same.
    pub const fn hashes_passwords(self) -> Self {
        Self { memory: HASHING_MEMORY, ..self }
    }

    /// Whether the operation hashes passwords.
    pub const fn hashes(&self) -> bool {
        self.memory == HASHING_MEMORY
    }

    /// Whether the operation hashes passwords, sends codes, or is called by agents (responses to
    /// agents are not cached). If so, its route in API Gateway has its own throttle, so a flood of
    /// requests to it costs little and leaves the rest of the API usable.
    pub const fn is_costly(&self) -> bool {
        self.hashes() || matches!(self.limit, Some(Limit::SendCode)) || matches!(self.interface, Interface::Agents)
    }

    /// Whether the operation renews sessions, which floods of other requests must not prevent.
    pub const fn renews_sessions(&self) -> bool {
        matches!(self.limit, Some(Limit::Token))
    }

    /// The permission that a key with limited permissions needs for the operation; `None` for an
    /// area that no permission covers.
    pub fn permission(&self) -> Option<KeyPermission> {
        let area = self.name.split('-').next()?.parse().ok()?;
        let action = if matches!(self.verb, Verb::Get) { KeyAction::Read } else { KeyAction::Write };
        Some(KeyPermission { area, action })
    }

    /// Whether a path matches this route, whatever the method.
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
