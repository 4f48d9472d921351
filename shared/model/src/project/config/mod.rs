//! The settings of a project as one configuration, whose keys are paths with dots.
//!
//! A project keeps each setting once; the configuration and its levels are views of the same settings, each of the keys that it may hold
//! ([`Level`]). To change some of them, the settings are written down as a configuration, keys are put in or taken out, and what that makes
//! is read as a whole: a key that is missing has its default, and one wrong value changes nothing. Names that were stored before hidden
//! characters were refused are written down without them, so that they do not stand in the way of other changes.
//!
//! Secrets of providers and the password of the mail server can be written and are never in a configuration that is read; what is written
//! without one keeps the one it had.

pub mod read;

pub mod defaults;
pub mod document;
pub mod documents;
#[cfg(test)]
mod documents_tests;
pub mod level;
pub mod notices;
pub mod parts;
pub mod paths;
pub mod settings;
#[cfg(test)]
mod tests;

pub use crate::project::config::documents::{DocumentChange, MailDocuments};
pub use crate::project::config::level::Level;
pub use crate::project::config::read::{Changed, read};
