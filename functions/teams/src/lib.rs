//! Teams with their members and invitations, and permissions in teams and in the whole project.

pub mod invitation_accept;
pub mod invitation_accept_by_id;
pub mod invitation_check_code;
pub mod invitation_details;
pub mod invitation_list;
pub mod invitation_revoke;
pub mod invitation_send_code;
mod invitations;
pub mod member_profile_list;
pub mod member_profile_read;
pub mod member_profile_update;
mod members;
pub mod membership_create;
pub mod membership_delete;
pub mod permission_definition_create;
pub mod permission_definition_delete;
pub mod permission_definition_list;
pub mod permission_definition_update;
pub mod permission_grant;
pub mod permission_list;
pub mod permission_revoke;
mod permissions;
pub mod project_permission_definition_create;
pub mod project_permission_definition_delete;
pub mod project_permission_definition_list;
pub mod project_permission_definition_update;
pub mod project_permission_grant;
pub mod project_permission_list;
pub mod project_permission_revoke;
pub mod team_create;
pub mod team_delete;
pub mod team_image_read;
pub mod team_list;
pub mod team_read;
pub mod team_update;

use api::http::Register;

/// Registers every operation of this crate.
pub fn operations(register: &mut impl Register) {
    register.operation(team_list::ROUTE, team_list::handle);
    register.operation(team_create::ROUTE, team_create::handle);
    register.operation(team_read::ROUTE, team_read::handle);
    register.operation(team_update::ROUTE, team_update::handle);
    register.operation(team_delete::ROUTE, team_delete::handle);
    register.operation(team_image_read::ROUTE, team_image_read::handle);
    register.operation(membership_create::ROUTE, membership_create::handle);
    register.operation(membership_delete::ROUTE, membership_delete::handle);
    register.operation(member_profile_list::ROUTE, member_profile_list::handle);
    register.operation(member_profile_read::ROUTE, member_profile_read::handle);
    register.operation(member_profile_update::ROUTE, member_profile_update::handle);
    register.operation(permission_list::ROUTE, permission_list::handle);
    register.operation(permission_grant::ROUTE, permission_grant::handle);
    register.operation(permission_revoke::ROUTE, permission_revoke::handle);
    register.operation(project_permission_list::ROUTE, project_permission_list::handle);
    register.operation(project_permission_grant::ROUTE, project_permission_grant::handle);
    register.operation(project_permission_revoke::ROUTE, project_permission_revoke::handle);
    register.operation(permission_definition_list::ROUTE, permission_definition_list::handle);
    register.operation(permission_definition_create::ROUTE, permission_definition_create::handle);
    register.operation(permission_definition_update::ROUTE, permission_definition_update::handle);
    register.operation(permission_definition_delete::ROUTE, permission_definition_delete::handle);
    register.operation(project_permission_definition_list::ROUTE, project_permission_definition_list::handle);
    register.operation(project_permission_definition_create::ROUTE, project_permission_definition_create::handle);
    register.operation(project_permission_definition_update::ROUTE, project_permission_definition_update::handle);
    register.operation(project_permission_definition_delete::ROUTE, project_permission_definition_delete::handle);
    register.operation(invitation_list::ROUTE, invitation_list::handle);
    register.operation(invitation_send_code::ROUTE, invitation_send_code::handle);
    register.operation(invitation_accept::ROUTE, invitation_accept::handle);
    register.operation(invitation_check_code::ROUTE, invitation_check_code::handle);
    register.operation(invitation_details::ROUTE, invitation_details::handle);
    register.operation(invitation_accept_by_id::ROUTE, invitation_accept_by_id::handle);
    register.operation(invitation_revoke::ROUTE, invitation_revoke::handle);
}
