//! Which emails users want.

pub(crate) mod categories;
pub(crate) mod unsubscribe_page;
