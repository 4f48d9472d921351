//! Sending mail and the outbox.

use shared::http::Register;

pub fn operations(_: &mut impl Register) {}
