//! What the token endpoint does.

pub(crate) mod answer;
pub(crate) mod code;
pub(crate) mod issue;
pub(crate) mod proof;
pub(crate) mod refresh;
