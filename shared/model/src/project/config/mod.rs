//! The settings of a project as a configuration: a set of values with dotted paths as keys.
//!
//! A configuration has three levels. The levels are stored separately ([`levels`]), and each level
//! permits certain keys ([`Level`]). Most requests read only the project's settings, not the
//! levels. A change to a level combines all levels again and parses the complete result
//! ([`change()`]). A missing key has its default value. If a single value is invalid, the entire
//! change is rejected. When another operation changes settings, it also writes the new values to
//! the environment or, for keys of the project level, to the project level.
//!
//! Names that were stored when hidden characters were still permitted are serialized without those
//! characters, so that such names do not block other changes.
//!
//! The secrets of providers, of the mail server and of bot challenges can be set but are never
//! returned. A provider or mail server that is written without its secret keeps the previous
//! secret, but only if the secret would be sent to the same recipient. A bot challenge keeps its
//! secret key as long as its site key stays the same.

pub mod change;
pub mod defaults;
pub mod document;
pub mod documents;
#[cfg(test)]
mod documents_tests;
pub mod flat;
pub mod level;
pub mod level_change;
pub mod level_documents;
pub mod levels;
#[cfg(test)]
mod levels_tests;
pub mod noted;
pub mod notices;
pub mod parts;
pub mod paths;
pub mod permissions;
#[cfg(test)]
mod permissions_tests;
pub mod read;
pub mod settings;
#[cfg(test)]
mod tests;

pub use crate::project::config::change::{ChangedProject, change};
pub use crate::project::config::documents::{DocumentChange, MailDocuments};
pub use crate::project::config::level::Level;
pub use crate::project::config::level_change::LevelChange;
pub use crate::project::config::level_documents::LevelDocuments;
pub use crate::project::config::levels::Levels;
