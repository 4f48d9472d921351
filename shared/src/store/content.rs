//! The public content of a site.
