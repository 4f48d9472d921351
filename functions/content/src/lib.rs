//! Interface A: the public content of a site. Its four operations read what was last published.
//! They need no credentials, take no query and change nothing. `api::content` adds validators,
//! cache rules and errors to their answers.
//!
//! Before the first publication there are no apps and no posts, and only the URL of the site is
//! known.

pub mod get_app;
pub mod get_site;
pub mod list_apps;
pub mod list_blog_posts;

use api::http::Register;

/// The operations of this area.
pub fn operations(register: &mut impl Register) {
    register.operation(list_apps::ROUTE, list_apps::handle);
    register.operation(get_app::ROUTE, get_app::handle);
    register.operation(list_blog_posts::ROUTE, list_blog_posts::handle);
    register.operation(get_site::ROUTE, get_site::handle);
}
