//! The project as an OpenID provider. The operations concern the clients to which its users can
//! sign in, the resources for which these clients get tokens, their authorization requests, and the
//! grants of users.

pub mod authorization_begin;
pub mod authorization_complete;
pub mod client_create;
pub mod client_delete;
pub mod client_list;
pub mod client_read;
pub mod client_register;
pub mod client_secret_rotate;
pub mod client_update;
mod clients;
pub mod grant_delete;
pub mod grant_list;
pub mod logout_begin;
pub mod resource_create;
pub mod resource_delete;
pub mod resource_list;
pub mod resource_read;
pub mod resource_update;
mod resources;
mod userinfo;
pub mod userinfo_form;
pub mod userinfo_read;

use api::http::Register;

/// Registers every operation of this crate.
pub fn operations(register: &mut impl Register) {
    register.operation(client_list::ROUTE, client_list::handle);
    register.operation(client_create::ROUTE, client_create::handle);
    register.operation(client_read::ROUTE, client_read::handle);
    register.operation(client_update::ROUTE, client_update::handle);
    register.operation(client_delete::ROUTE, client_delete::handle);
    register.operation(client_secret_rotate::ROUTE, client_secret_rotate::handle);
    register.operation(client_register::ROUTE, client_register::handle);
    register.operation(resource_list::ROUTE, resource_list::handle);
    register.operation(resource_create::ROUTE, resource_create::handle);
    register.operation(resource_read::ROUTE, resource_read::handle);
    register.operation(resource_update::ROUTE, resource_update::handle);
    register.operation(resource_delete::ROUTE, resource_delete::handle);
    register.operation(authorization_begin::ROUTE, authorization_begin::handle);
    register.operation(authorization_complete::ROUTE, authorization_complete::handle);
    register.operation(logout_begin::ROUTE, logout_begin::handle);
    register.operation(userinfo_read::ROUTE, userinfo_read::handle);
    register.operation(userinfo_form::ROUTE, userinfo_form::handle);
    register.operation(grant_list::ROUTE, grant_list::handle);
    register.operation(grant_delete::ROUTE, grant_delete::handle);
}
