//! Sign-up rules, which decide who may sign up, and risk scores.

mod bounds;
pub mod risk;
pub mod rule;
#[cfg(test)]
mod rule_tests;
pub mod verdict;
