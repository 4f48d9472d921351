//! The content API, which serves the public content of a site. Four operations return JSON from the
//! current publication. The other operations return images and documents, most of which the crate
//! `site` renders. `api::content` adds validators, cache rules and errors to the responses. Two
//! more operations serve agents over JSON-RPC (`api::rpc`). The operations need no credentials and
//! change nothing.
//!
//! Before the first publication, there are no apps or posts, and only the URL of the site is known.

pub mod a2a;
pub mod get_api_reference;
pub mod get_app;
pub mod get_app_page;
pub mod get_cli;
pub mod get_document;
pub mod get_home;
pub mod get_image;
pub mod get_openapi;
pub mod get_post_page;
pub mod get_server_card;
pub mod get_site;
pub mod get_well_known;
pub mod list_apps;
pub mod list_blog_posts;
pub mod mcp;
mod published;

use api::http::Register;

/// Registers every operation of this crate.
pub fn operations(register: &mut impl Register) {
    register.operation(list_apps::ROUTE, list_apps::handle);
    register.operation(get_app::ROUTE, get_app::handle);
    register.operation(list_blog_posts::ROUTE, list_blog_posts::handle);
    register.operation(get_site::ROUTE, get_site::handle);
    register.operation(get_home::ROUTE, get_home::handle);
    register.operation(get_document::ROUTE, get_document::handle);
    register.operation(get_post_page::ROUTE, get_post_page::handle);
    register.operation(get_app_page::ROUTE, get_app_page::handle);
    register.operation(get_image::ROUTE, get_image::handle);
    register.operation(get_well_known::ROUTE, get_well_known::handle);
    register.operation(get_openapi::ROUTE, get_openapi::handle);
    register.operation(get_api_reference::ROUTE, get_api_reference::handle);
    register.operation(get_cli::ROUTE, get_cli::handle);
    register.operation(mcp::ROUTE, mcp::handle);
    register.operation(get_server_card::ROUTE, get_server_card::handle);
    register.operation(a2a::ROUTE, a2a::handle);
}
