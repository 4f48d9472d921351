//! Views of several entities together, such as a user with the selected team. The views of a single
//! entity are in the folder of that entity.

pub mod member_profile;
pub mod user;
