//! The figures about a project that its administrators see: how many users and teams there are
//! ([`tally`]), and how many were active when ([`activity`]).

pub mod activity;
pub mod tally;
