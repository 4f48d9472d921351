//! Functions without a route, for work that continues after a response has been sent.
//!
//! The outbox worker runs in steps. On AWS, the table's stream and a schedule start the steps. In
//! the gateway, a task starts them. Steps may run in parallel or twice, because their writes are
//! conditional. A step may also not run at all, because the next step finds the same work. Separate
//! functions handle webhooks, SES reports, deletions that take longer than their requests, and
//! audit trails with their hash chains and figures.

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
