//! Figures about a project for administrators: how many users and teams there are ([`tally`]), and
//! how many are active on each day ([`activity`]).

pub mod activity;
pub mod tally;
