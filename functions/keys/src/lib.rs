//! API keys of users and teams.

pub mod exposed_key_revoke;
mod owners;
pub mod team_key_check;
pub mod team_key_create;
pub mod team_key_list;
pub mod team_key_read;
pub mod team_key_rotate;
pub mod team_key_update;
pub mod user_key_check;
pub mod user_key_create;
pub mod user_key_list;
pub mod user_key_read;
pub mod user_key_rotate;
pub mod user_key_update;

use api::http::Register;

/// Registers every operation of this crate.
pub fn operations(register: &mut impl Register) {
    register.operation(user_key_create::ROUTE, user_key_create::handle);
    register.operation(user_key_list::ROUTE, user_key_list::handle);
    register.operation(user_key_read::ROUTE, user_key_read::handle);
    register.operation(user_key_update::ROUTE, user_key_update::handle);
    register.operation(user_key_rotate::ROUTE, user_key_rotate::handle);
    register.operation(user_key_check::ROUTE, user_key_check::handle);
    register.operation(team_key_create::ROUTE, team_key_create::handle);
    register.operation(team_key_list::ROUTE, team_key_list::handle);
    register.operation(team_key_read::ROUTE, team_key_read::handle);
    register.operation(team_key_update::ROUTE, team_key_update::handle);
    register.operation(team_key_rotate::ROUTE, team_key_rotate::handle);
    register.operation(team_key_check::ROUTE, team_key_check::handle);
    register.operation(exposed_key_revoke::ROUTE, exposed_key_revoke::handle);
}
