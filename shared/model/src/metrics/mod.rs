//! The figures about a project that its administrators see: how many users and teams there are, who
//! was active when, and which sign-up rules matched.

pub mod activity;
pub mod tally;
