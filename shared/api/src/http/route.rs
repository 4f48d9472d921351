//! The route of an operation: the only place that states its method and path. Everything else that
//! needs them is derived from the route.

use errors::{ErrorCode, KnownError};
use model::limit::Limit;
use model::project::key_permission::{KeyAction, KeyPermission};
use store::content;
use wire::problem::Problems;

use crate::http::answer::Answer;
use crate::http::interface::Interface;
use crate::http::need::{Need, Needs};
use crate::http::table::{NamedItem, READS, Table, TableAction, Trail};
use crate::http::verb::Verb;

/// An operation: its method and path, and what it may do.
#[derive(Debug, Clone, Copy)]
pub struct Route {
    /// The name of the binary and the Lambda, such as `users-me-read`; it begins with the area.
    pub name: &'static str,
    /// The method.
    pub verb: Verb,
    /// The path, with `{param}` segments as both axum and API Gateway write them.
    pub path: &'static str,
    /// The interface that the operation belongs to.
    pub interface: Interface,
    /// The operation's summary in the API document: one line.
    pub summary: &'static str,
    /// Whose access tokens the operation accepts if it has a rate limit.
    pub admission: Admission,
    /// How the operation treats the body.
    pub body: BodyRule,
    /// The resources that the operation's function needs.
    pub needs: Needs,
    /// The rate limit for requests to the operation; `None` for no limit. By default, a GET has no
    /// limit, and all other methods have [`Limit::Write`].
    pub limit: Option<Limit>,
    /// What the operation does with the table.
    pub table: Table,
    /// The responses, except those common to the interface.
    pub answer: Answer,
    /// The operations that a page calls within the process; the page's function gets the
    /// permissions of all of them.
    pub calls: &'static [Self],
}

/// Whose access tokens an operation with a rate limit accepts. Operations without a rate limit
/// accept the access tokens of all users.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Admission {
    /// Tokens of users who are not restricted, in sessions that do not owe a second factor.
    Complete,
    /// Also tokens of sessions that owe a required second factor.
    Owing,
    /// Also tokens of users restricted by an administrator, and of sessions that owe a second
    /// factor.
    Restricted,
}

/// How an operation treats the body of a request. All operations of the product API accept forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyRule {
    /// Unknown fields are rejected.
    Strict,
    /// Unknown fields are ignored.
    Lenient,
    /// Like `Lenient`, but the API document describes the body as a form (RFC 6749 §3.1 and §3.2).
    Form,
    /// Like `Form`, but the operation's errors also have the form of RFC 6749 §5.2, which every
    /// OAuth client understands. For the token endpoint and the device authorization endpoint of
    /// RFC 8628 §3.1.
    OauthForm,
    /// Like `Lenient`, with the errors of `OauthForm`; for the registration endpoint of RFC 7591.
    OauthJson,
    /// The body is not read, whatever its media type; for operations called by an HTML form.
    Ignored,
}

impl BodyRule {
    /// Whether unknown fields of the body are ignored.
    pub const fn ignores_unknown_fields(self) -> bool {
        !matches!(self, Self::Strict)
    }

    /// Whether errors have the form of RFC 6749 §5.2.
    pub const fn has_oauth_errors(self) -> bool {
        matches!(self, Self::OauthForm | Self::OauthJson)
    }

    /// Whether the API document describes the body as a form.
    pub const fn is_form(self) -> bool {
        matches!(self, Self::Form | Self::OauthForm)
    }
}

impl Route {
    /// The error of a request that does not match the operation's schema.
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
            admission: Admission::Complete,
            body: BodyRule::Strict,
            needs: Needs::NONE.with(Need::Secret),
            limit,
            table: Table { actions: &[], partitions: &[], reads: &[], trail },
            answer: Answer::new(),
            calls: &[],
        }
    }

    /// The route of GET requests for `path`; `name` is the binary's name.
    pub const fn get(name: &'static str, path: &'static str) -> Self {
        Self::new(name, Verb::Get, path)
    }

    /// The route of POST requests for `path`; `name` is the binary's name.
    pub const fn post(name: &'static str, path: &'static str) -> Self {
        Self::new(name, Verb::Post, path)
    }

    /// The route of PUT requests for `path`; `name` is the binary's name.
    pub const fn put(name: &'static str, path: &'static str) -> Self {
        Self::new(name, Verb::Put, path)
    }

    /// The route of PATCH requests for `path`; `name` is the binary's name.
    pub const fn patch(name: &'static str, path: &'static str) -> Self {
        Self::new(name, Verb::Patch, path)
    }

    /// The route of DELETE requests for `path`; `name` is the binary's name.
    pub const fn delete(name: &'static str, path: &'static str) -> Self {
        Self::new(name, Verb::Delete, path)
    }

    /// Sets the operation's summary in the API document.
    pub const fn summary(self, summary: &'static str) -> Self {
        Self { summary, ..self }
    }

    /// Marks a page that calls these operations within the process. The called operations apply
    /// their own rate limits and write their own trail entries.
    pub const fn page(self, calls: &'static [Self]) -> Self {
        let mut needs = self.needs;
        let mut others = calls;
        while let [call, rest @ ..] = others {
            (needs, others) = (needs.and(call.needs), rest);
        }
        Self { interface: Interface::Pages, calls, needs, limit: None, ..self }
            .leaves_no_trail("the operations that a page calls are recorded themselves")
    }

    /// Marks an operation of the content API, which reads only the public content.
    pub const fn content(self) -> Self {
        Self { interface: Interface::Content, ..self.without_secret().partitions(&[content::PARTITION]) }
    }

    /// Marks an operation that agents call and that reads only the public content.
    pub const fn for_agents(self) -> Self {
        Self { interface: Interface::Agents, ..self.content().writes_nothing() }
    }

    /// Marks an operation that does not need a key derived from the deployment secret. Its function
    /// does not get the secret, so an attacker who breaks into the function does not either.
    /// Without the secret, the function cannot verify access tokens, and therefore ignores them.
    pub const fn without_secret(self) -> Self {
        Self { needs: self.needs.without(Need::Secret), ..self }
    }

    /// Adds resources that the operation's function needs.
    pub const fn needs(self, needs: &[Need]) -> Self {
        Self { needs: self.needs.with_all(needs), ..self }
    }

    /// Restricts the function to the partitions of the table that match these patterns.
    pub const fn partitions(self, partitions: &'static [&'static str]) -> Self {
        Self { table: Table { partitions, ..self.table }, ..self }
    }

    /// Sets the operation's own actions on the table.
    pub const fn table(self, actions: &'static [TableAction]) -> Self {
        Self { table: Table { actions, ..self.table }, ..self }
    }

    /// Adds a group of the operation's own errors; an operation can have at most three groups.
    pub const fn errors(self, errors: &'static [ErrorCode]) -> Self {
        Self { answer: self.answer.errors(errors), ..self }
    }

    /// Sets the operation's own errors, for an operation of the content API.
    pub const fn problems(self, problems: &'static [&'static str]) -> Self {
        Self { answer: Answer { problems, ..self.answer }, ..self }
    }

    /// Sets the media types of the operation's documents. If there is also JSON, the API document
    /// lists the other types as ranges (`text/*`), because generated clients parse a response as
    /// the first type that they know.
    pub const fn media(self, media: &'static [&'static str]) -> Self {
        Self { answer: Answer { media, ..self.answer }, ..self }
    }

    /// The codes of the operation's own errors, as they appear on the wire.
    pub fn codes(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.answer.codes()
    }

    /// Replaces the default rate limit: none for a GET, and [`Limit::Write`] for the other methods.
    pub const fn limit(self, limit: Limit) -> Self {
        Self { limit: Some(limit), ..self }
    }

    /// Marks an operation that is not a GET but writes nothing. The operation has no rate limit
    /// unless [`Self::limit`] follows.
    pub const fn writes_nothing(self) -> Self {
        Self { limit: None, ..self.leaves_no_trail("it writes nothing") }
    }

    /// Marks an operation whose writes need not be recorded in the trail, for the given reason.
    pub const fn leaves_no_trail(self, reason: &'static str) -> Self {
        Self { table: Table { trail: Trail::Nothing(reason), ..self.table }, ..self }
    }

    /// Sets whose access tokens the operation accepts, if it has a rate limit.
    pub const fn admits(self, admission: Admission) -> Self {
        Self { admission, ..self }
    }

    /// Marks an operation whose responses must not reveal whether an account exists, not even by
    /// their timing.
    pub const fn hides_accounts(self) -> Self {
        Self { answer: Answer { hides_accounts: true, ..self.answer }, ..self }
    }

    /// Marks a GET that changes something, so that the trail records its changes.
    pub const fn leaves_trail(self) -> Self {
        Self { table: Table { trail: Trail::Entry, ..self.table }, ..self }
    }

    /// The actions on the table that the function's role allows: the operation's own actions, those
    /// of the operations that it calls, and those for counting requests, reading the counts and
    /// writing the trail.
    pub fn actions(&self) -> Vec<TableAction> {
        let counting = if self.limit.is_some_and(Limit::is_in_table) { &[TableAction::GetItem, TableAction::UpdateItem][..] } else { &[] };
        let telling = (self.table.trail == Trail::Entry).then_some(TableAction::PutItem);
        let of_calls = self.calls.iter().flat_map(Self::actions);
        let mut actions: Vec<TableAction> = self.table.actions.iter().chain(counting).copied().chain(telling).chain(of_calls).collect();
        actions.sort_unstable();
        actions.dedup();
        actions
    }

    /// Sets how the operation treats the body.
    pub const fn body(self, body: BodyRule) -> Self {
        Self { body, ..self }
    }

    /// Sets the items to fetch in the authentication round trip, which are then available in
    /// `Access`.
    pub const fn reads(self, reads: &'static [NamedItem]) -> Self {
        Self { table: Table { reads, ..self.table }, ..self }
    }

    /// Whether the operation hashes passwords, sends codes, or is called by agents, whose responses
    /// are not cached. The route of a costly operation has its own throttle in API Gateway, so a
    /// flood of requests costs little and leaves the rest of the API usable.
    pub const fn is_costly(&self) -> bool {
        self.needs.has(Need::Hashing) || matches!(self.limit, Some(Limit::SendCode)) || matches!(self.interface, Interface::Agents)
    }

    /// Whether the operation renews sessions, which must remain possible during floods of other
    /// requests.
    pub const fn renews_sessions(&self) -> bool {
        matches!(self.limit, Some(Limit::Token))
    }

    /// The permission that a key with limited permissions needs for the operation; `None` for an
    /// area without permissions.
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
