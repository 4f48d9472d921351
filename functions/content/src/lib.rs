//! Interface A: the public content of a site.

use shared::http::Register;

pub fn operations(_: &mut impl Register) {}
