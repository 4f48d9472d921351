//! The settings of a project as one configuration, whose keys are dotted paths.
//!
//! A configuration has three levels, which are stored separately ([`levels`]), each with its
//! permitted keys ([`Level`]). Most requests read only the settings in the project, not the levels.
//! Changing a level combines all levels anew and parses the whole result ([`change()`]). A missing
//! key has its default. A single invalid value rejects the entire change. When another operation
//! changes settings, the new values are also written to the environment or, for keys of the project
//! level, to that level.
//!
//! Names stored at a time when hidden characters were permitted are serialized without them, so
//! that they do not block other changes.
//!
//! The secrets of providers, of the mail server and of bot challenges can be written but are never
//! returned. A provider or mail server written without its secret keeps the previous one, but only
//! if the secret would go to the same recipient. A bot challenge keeps its secret key as long as
//! its site key stays the same.

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
