//! Renders the template.
