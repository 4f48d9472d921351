//! The HTTP methods of operations.

use axum::routing::MethodFilter;
use strum::{EnumString, IntoStaticStr};

/// The methods of operations. GET implies HEAD, and every path supports OPTIONS. Unlike
/// `http::Method`, this type is `Copy`, because a copy of the [`Route`](crate::http::Route) is
/// attached to every request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "UPPERCASE")]
pub enum Verb {
    /// `GET`.
    Get,
    /// `POST`.
    Post,
    /// `PUT`.
    Put,
    /// `PATCH`.
    Patch,
    /// `DELETE`.
    Delete,
}

impl Verb {
    /// The name of the method.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The filter of axum's router for the method.
    pub fn filter(self) -> MethodFilter {
        match self {
            Self::Get => MethodFilter::GET,
            Self::Post => MethodFilter::POST,
            Self::Put => MethodFilter::PUT,
            Self::Patch => MethodFilter::PATCH,
            Self::Delete => MethodFilter::DELETE,
        }
    }
}
