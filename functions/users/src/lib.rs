//! Users, their contact channels, pictures and activity, and the preview of onboarding settings.

mod accounts;
mod channels;
pub mod contact_channel_check_code;
pub mod contact_channel_create;
pub mod contact_channel_delete;
pub mod contact_channel_list;
pub mod contact_channel_read;
pub mod contact_channel_release;
pub mod contact_channel_release_show;
pub mod contact_channel_send_code;
pub mod contact_channel_send_own_code;
pub mod contact_channel_update;
pub mod contact_channel_verify;
pub mod me_activity;
pub mod me_delete;
pub mod me_read;
pub mod me_update;
pub mod onboarding_preview;
pub mod user_create;
pub mod user_delete;
pub mod user_image_read;
pub mod user_list;
pub mod user_read;
pub mod user_update;

use api::http::Register;

/// Registers every operation of this crate.
pub fn operations(register: &mut impl Register) {
    register.operation(me_read::ROUTE, me_read::handle);
    register.operation(me_update::ROUTE, me_update::handle);
    register.operation(me_delete::ROUTE, me_delete::handle);
    register.operation(me_activity::ROUTE, me_activity::handle);
    register.operation(user_list::ROUTE, user_list::handle);
    register.operation(user_create::ROUTE, user_create::handle);
    register.operation(user_read::ROUTE, user_read::handle);
    register.operation(user_update::ROUTE, user_update::handle);
    register.operation(user_delete::ROUTE, user_delete::handle);
    register.operation(user_image_read::ROUTE, user_image_read::handle);
    register.operation(contact_channel_list::ROUTE, contact_channel_list::handle);
    register.operation(contact_channel_create::ROUTE, contact_channel_create::handle);
    register.operation(contact_channel_read::ROUTE, contact_channel_read::handle);
    register.operation(contact_channel_update::ROUTE, contact_channel_update::handle);
    register.operation(contact_channel_delete::ROUTE, contact_channel_delete::handle);
    register.operation(contact_channel_send_code::ROUTE, contact_channel_send_code::handle);
    register.operation(contact_channel_send_own_code::ROUTE, contact_channel_send_own_code::handle);
    register.operation(contact_channel_verify::ROUTE, contact_channel_verify::handle);
    register.operation(contact_channel_check_code::ROUTE, contact_channel_check_code::handle);
    register.operation(contact_channel_release_show::ROUTE, contact_channel_release_show::handle);
    register.operation(contact_channel_release::ROUTE, contact_channel_release::handle);
    register.operation(onboarding_preview::ROUTE, onboarding_preview::handle);
}
