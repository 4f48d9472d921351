//! Functions without a route, for work that continues after a response.
//!
//! The outbox worker runs in steps, which anything may start: the table's stream and a schedule on
//! AWS, a task in the gateway. Steps may run in parallel or twice, because writes are conditional,
//! or not at all, because the next step finds the same work. Separate functions handle the reports
//! of SES, deletions that take longer than their request, the chains of audit trails with the
//! figures counted from them, and webhooks.

mod broadcast;
mod chain;
mod content;
mod counting;
pub mod endings;
mod fail_point;
pub mod lambda;
pub mod outbox;
mod parties;
mod preparing;
pub mod recount;
pub mod recovery;
pub mod reports;
mod sending;
mod tokens;
pub mod trail;
mod turns;
pub mod wake;
pub mod webhooks;
