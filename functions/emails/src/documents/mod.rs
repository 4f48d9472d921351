//! Templates, themes and drafts.

pub(crate) mod changes;
pub(crate) mod found;
pub(crate) mod preview;
