//! Views of several entities, such as a user with the selected team. The views of one entity are in
//! its own folder.

pub mod member_profile;
pub mod user;
