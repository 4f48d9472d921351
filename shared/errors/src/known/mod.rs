//! The errors of the product API: the name of the variant is the `code`, its fields are the
//! `details`, and its message is the `error`. Codes, statuses and details are part of the contract;
//! texts may change.
//!
//! Everything about an error is defined by one row in the file of its area:
//!
//! ```text
//! /// When the error is returned: one sentence, for the documentation.
//! #[error("the message; it may contain {fields} of the variant")]
//! #[hint("What the developer who gets the error can do.")]
//! #[answer(NOT_FOUND, Sdks::None)]
//! Variant { field: String },
//! ```
//!
//! A row that lacks one of these lines does not compile. Fields can have only the types imported
//! here.

#[macro_use]
mod access;
#[macro_use]
mod emails;
#[macro_use]
mod keys;
#[macro_use]
mod oauth;
#[macro_use]
mod projects;
#[macro_use]
mod requests;
#[macro_use]
mod sessions;
#[macro_use]
mod sign_in;
#[macro_use]
mod teams;
#[cfg(test)]
mod tests;
#[macro_use]
mod users;
#[macro_use]
mod webhooks;

use std::borrow::Cow;

use http::StatusCode;
use model::limit::Refusal;
use model::password::Weakness;
use model::user::restriction::RestrictedReason;
use serde::Serialize;
use strum::{EnumDiscriminants, EnumIter, EnumString, IntoEnumIterator as _, IntoStaticStr, VariantNames};
use wire::problem::Problem;

use crate::key_slip::KeySlip;
use crate::path_slip::PathSlip;

/// The published SDKs that know a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sdks {
    /// All supported versions.
    All,
    /// Version 2.8.108 and newer.
    Since2_8_108,
    /// None: the code is specific to Gatelet.
    None,
}

/// Defines the errors from the rows of all areas. Each area's macro adds its rows and calls this
/// macro again with the remaining areas.
macro_rules! known_errors {
    ([$area:ident $($others:ident)*] $($rows:tt)*) => { $area! { known_errors! [$($others)*] $($rows)* } };
    ([] $(
        $(#[doc = $meaning:literal])+
        #[error($text:literal)]
        #[hint($hint:literal)]
        #[answer($status:ident, Sdks::$sdks:ident)]
        $variant:ident $({ $($fields:tt)* })? $(($($values:tt)*))?,
    )*) => {
        /// Every error that a client of the product API may rely on.
        #[expect(missing_docs, reason = "the fields are the details on the wire")]
        #[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, EnumDiscriminants, EnumIter, VariantNames)]
        #[strum_discriminants(name(ErrorCode), derive(Hash, EnumIter, EnumString, IntoStaticStr, PartialOrd, Ord))]
        #[strum_discriminants(strum(serialize_all = "SCREAMING_SNAKE_CASE"))]
        #[strum_discriminants(doc = "The code of a [`KnownError`], without its details.")]
        #[serde(tag = "code", content = "details", rename_all = "SCREAMING_SNAKE_CASE")]
        #[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
        pub enum KnownError {
            $(
                $(#[doc = $meaning])+
                #[error($text)]
                $variant $({ $($fields)* })? $(($($values)*))?,
            )*
        }

        impl ErrorCode {
            /// The HTTP status.
            pub fn status(self) -> StatusCode {
                match self { $(Self::$variant => StatusCode::$status,)* }
            }

            /// When the error is returned, in one sentence for the documentation. Only the function
            /// `edge-fallback` contains these texts.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$variant => concat!($($meaning),+).trim_ascii_start(),)* }
            }

            /// Advice for the developer who gets the error; sent with the error.
            pub fn hint(self) -> &'static str {
                match self { $(Self::$variant => $hint,)* }
            }

            /// The published SDKs that know the code.
            pub fn sdks(self) -> Sdks {
                match self { $(Self::$variant => Sdks::$sdks,)* }
            }
        }
    };
}

known_errors! { [requests access sessions sign_in oauth users teams keys emails projects webhooks] }

impl ErrorCode {
    /// Every code.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::iter()
    }

    /// The name on the wire, in capitals.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether a published SDK knows the code; `is_older` means that the SDK's version is before
    /// 2.8.108. Headers contain only codes that the SDK knows: an SDK that gets an unknown code
    /// concludes that it is outdated.
    pub fn is_known_to_sdk(self, is_older: bool) -> bool {
        match self.sdks() {
            Sdks::All => true,
            Sdks::Since2_8_108 => !is_older,
            Sdks::None => false,
        }
    }
}

impl KnownError {
    /// The names of all codes.
    pub const CODES: &[&str] = Self::VARIANTS;

    /// Every error once, with empty details.
    pub fn samples() -> impl Iterator<Item = Self> {
        Self::iter()
    }

    /// The name of the code on the wire.
    pub fn code(&self) -> &'static str {
        ErrorCode::from(self).name()
    }

    /// The HTTP status.
    pub fn status(&self) -> StatusCode {
        ErrorCode::from(self).status()
    }

    /// Advice for the developer who gets the error.
    pub fn hint(&self) -> &'static str {
        ErrorCode::from(self).hint()
    }
}
