//! Sending mail, and the outbox in which a mail can be looked at and changed until it is sent.

pub mod delivery_info;
pub mod outbox_list;
pub mod outbox_read;
pub mod outbox_update;
pub mod send;

use shared::http::Register;

/// The operations of this area.
pub fn operations(register: &mut impl Register) {
    register.operation(send::ROUTE, send::handle);
    register.operation(outbox_list::ROUTE, outbox_list::handle);
    register.operation(outbox_read::ROUTE, outbox_read::handle);
    register.operation(outbox_update::ROUTE, outbox_update::handle);
    register.operation(delivery_info::ROUTE, delivery_info::handle);
}
