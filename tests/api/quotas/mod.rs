//! Quotas: what a client can create has a maximum for each owner, however many requests arrive at
//! the same time (`shared/model/src/quota.rs`).

mod anonymous;
mod invitations;
mod lists;
mod memberships;
mod projects;
mod teams;

use support::Answer;

/// How many of these answers have a status.
fn count(answers: &[Answer], status: u16) -> usize {
    answers.iter().filter(|answer| answer.status() == status).count()
}
