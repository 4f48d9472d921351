//! Operations that send emails, inspect and edit them in the outbox until they are sent, manage
//! templates, themes and drafts, set which categories of emails a user wants, and return delivery
//! figures.

pub mod capacity_boost;
pub mod delivery_info;
mod documents;
pub mod draft_create;
pub mod draft_delete;
pub mod draft_list;
pub mod draft_read;
pub mod draft_update;
pub mod internal_list;
pub mod managed_onboarding_list;
mod outbox;
pub mod outbox_list;
pub mod outbox_read;
pub mod outbox_update;
pub mod preference_list;
pub mod preference_update;
mod preferences;
pub mod render;
pub mod send;
pub mod send_sign_in_invitation;
pub mod send_test_email;
mod sending;
pub mod template_create;
pub mod template_delete;
pub mod template_list;
pub mod template_read;
pub mod template_update;
pub mod theme_create;
pub mod theme_delete;
pub mod theme_list;
pub mod theme_read;
pub mod theme_update;
pub mod unsubscribe;
pub mod unsubscribe_show;

use api::http::Register;

/// Registers every operation of this crate.
pub fn operations(register: &mut impl Register) {
    register.operation(send::ROUTE, send::handle);
    register.operation(outbox_list::ROUTE, outbox_list::handle);
    register.operation(outbox_read::ROUTE, outbox_read::handle);
    register.operation(outbox_update::ROUTE, outbox_update::handle);
    register.operation(delivery_info::ROUTE, delivery_info::handle);
    register.operation(template_create::ROUTE, template_create::handle);
    register.operation(template_list::ROUTE, template_list::handle);
    register.operation(template_read::ROUTE, template_read::handle);
    register.operation(template_update::ROUTE, template_update::handle);
    register.operation(template_delete::ROUTE, template_delete::handle);
    register.operation(theme_create::ROUTE, theme_create::handle);
    register.operation(theme_list::ROUTE, theme_list::handle);
    register.operation(theme_read::ROUTE, theme_read::handle);
    register.operation(theme_update::ROUTE, theme_update::handle);
    register.operation(theme_delete::ROUTE, theme_delete::handle);
    register.operation(draft_create::ROUTE, draft_create::handle);
    register.operation(draft_list::ROUTE, draft_list::handle);
    register.operation(draft_read::ROUTE, draft_read::handle);
    register.operation(draft_update::ROUTE, draft_update::handle);
    register.operation(draft_delete::ROUTE, draft_delete::handle);
    register.operation(render::ROUTE, render::handle);
    register.operation(capacity_boost::ROUTE, capacity_boost::handle);
    register.operation(preference_list::ROUTE, preference_list::handle);
    register.operation(preference_update::ROUTE, preference_update::handle);
    register.operation(unsubscribe_show::ROUTE, unsubscribe_show::handle);
    register.operation(unsubscribe::ROUTE, unsubscribe::handle);
    register.operation(managed_onboarding_list::ROUTE, managed_onboarding_list::handle);
    register.operation(internal_list::ROUTE, internal_list::handle);
    register.operation(send_sign_in_invitation::ROUTE, send_sign_in_invitation::handle);
    register.operation(send_test_email::ROUTE, send_test_email::handle);
}
