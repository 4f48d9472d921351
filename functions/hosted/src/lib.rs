//! Hosted pages (`/handler/{page}`): the sign-in page, the account page and all other pages to
//! which an app can send its users instead of having its own.
//!
//! The pages are a client of the API within the process. Each form calls an operation through the
//! operation's layer, with the visitor's address and session (`visit::call`). The limits, the
//! checks and the audit log of the API therefore also apply to the pages, and a page cannot do more
//! than an app. Of all areas, only the hosted pages depend on other areas.
//!
//! A page is one document that includes its style. Every form works without scripts. `pages.js`
//! adds passkeys, bot challenges and small conveniences.

mod account;
pub mod account_show;
pub mod account_submit;
mod answer;
pub mod authorization_show;
pub mod authorization_submit;
pub mod logout_show;
pub mod logout_submit;
pub mod page_show;
pub mod page_submit;
mod pages;
mod render;
mod visit;

use api::http::Register;

/// Registers every operation of this crate.
pub fn operations(register: &mut impl Register) {
    register.operation(account_show::ROUTE, account_show::handle);
    register.operation(account_submit::ROUTE, account_submit::handle);
    register.operation(authorization_show::ROUTE, authorization_show::handle);
    register.operation(authorization_submit::ROUTE, authorization_submit::handle);
    register.operation(logout_show::ROUTE, logout_show::handle);
    register.operation(logout_submit::ROUTE, logout_submit::handle);
    register.operation(page_show::ROUTE, page_show::handle);
    register.operation(page_submit::ROUTE, page_submit::handle);
}
