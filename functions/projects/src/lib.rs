//! Projects, their settings and their public keys.

use shared::http::Register;

pub fn operations(_: &mut impl Register) {}
