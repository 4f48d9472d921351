//! Webhook endpoints of a project and their deliveries.

pub mod delivery_list;
pub mod delivery_replay;
pub mod delivery_replay_failed;
pub mod endpoint_create;
pub mod endpoint_delete;
pub mod endpoint_list;
pub mod endpoint_read;
pub mod endpoint_update;
mod endpoints;
pub mod secret_rotate;
pub mod test_send;

use api::http::Register;

/// Registers every operation of this crate.
pub fn operations(register: &mut impl Register) {
    register.operation(endpoint_list::ROUTE, endpoint_list::handle);
    register.operation(endpoint_create::ROUTE, endpoint_create::handle);
    register.operation(endpoint_read::ROUTE, endpoint_read::handle);
    register.operation(endpoint_update::ROUTE, endpoint_update::handle);
    register.operation(endpoint_delete::ROUTE, endpoint_delete::handle);
    register.operation(secret_rotate::ROUTE, secret_rotate::handle);
    register.operation(delivery_list::ROUTE, delivery_list::handle);
    register.operation(delivery_replay::ROUTE, delivery_replay::handle);
    register.operation(delivery_replay_failed::ROUTE, delivery_replay_failed::handle);
    register.operation(test_send::ROUTE, test_send::handle);
}
