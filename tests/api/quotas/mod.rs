//! Quotas. Each owner has a maximum for what clients can create, no matter how many requests arrive
//! at the same time (`shared/model/src/quota.rs`).

mod anonymous;
mod invitations;
mod lists;
mod memberships;
mod projects;
mod teams;

use support::Answer;

/// The number of responses that have this status.
fn count(answers: &[Answer], status: u16) -> usize {
    answers.iter().filter(|answer| answer.status() == status).count()
}
