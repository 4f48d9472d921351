//! Renders the template.
pub mod openapi;
