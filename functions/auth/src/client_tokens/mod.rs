//! Code shared by the endpoints for OAuth clients.

pub(crate) mod answer;
pub(crate) mod code;
pub(crate) mod issue;
pub(crate) mod lookup;
pub(crate) mod proof;
pub(crate) mod refresh;
