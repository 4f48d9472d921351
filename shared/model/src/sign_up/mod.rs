//! Sign-up rules, which decide who may sign up, and risk scores of users.

pub mod budget;
#[cfg(test)]
mod budget_tests;
pub mod check;
mod cost;
mod patterns;
pub mod program;
pub mod risk;
pub mod rule;
#[cfg(test)]
mod rule_tests;
pub mod verdict;
