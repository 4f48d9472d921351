//! Signing up, signing in, sessions and OAuth.

use shared::http::Register;

pub fn operations(_: &mut impl Register) {}
