//! Users and their contact channels.

use shared::http::Register;

pub fn operations(_: &mut impl Register) {}
