//! Functions without a route: what happens after an answer was given.
//!
//! The outbox worker is one step, run by whoever has a reason: the table's stream and a schedule on AWS, a task in the gateway. Steps may
//! run at the same time, twice or not at all; the conditions of their writes make that harmless. What SES reports of mails that it took
//! comes to a function of its own, and so do deletions that took longer than their request, and the links of the trail.

mod broadcast;
mod content;
pub mod endings;
mod fail_point;
pub mod outbox;
mod parties;
pub mod recovery;
pub mod reports;
pub mod trail;
