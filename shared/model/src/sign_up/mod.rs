//! Sign-up rules: who may sign up.

pub mod risk;
pub mod rule;
#[cfg(test)]
mod rule_tests;
pub mod verdict;
