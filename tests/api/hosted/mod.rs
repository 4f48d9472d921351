//! The hosted pages.

mod account;
