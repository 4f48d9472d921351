//! Users and their contact channels.

pub mod contact_channel_verify;
pub mod me_read;

use shared::http::Register;

/// The operations of this area.
pub fn operations(register: &mut impl Register) {
    register.operation(me_read::ROUTE, me_read::handle);
    register.operation(contact_channel_verify::ROUTE, contact_channel_verify::handle);
}
