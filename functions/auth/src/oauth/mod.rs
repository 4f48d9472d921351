//! OAuth flows, in which Gatelet is a client of providers and issues codes and tokens to apps.

pub(crate) mod account;
pub(crate) mod authorize_query;
pub(crate) mod client;
pub(crate) mod code;
pub(crate) mod connected_accounts;
pub(crate) mod device;
pub(crate) mod exchange;
pub(crate) mod flow;
mod handed_over;
pub(crate) mod kept_tokens;
pub(crate) mod machine;
pub(crate) mod native;
pub(crate) mod owners;
pub(crate) mod pending;
pub(crate) mod provider_accounts;
pub(crate) mod provider_answer;
pub(crate) mod provider_client;
pub(crate) mod redemption;
pub(crate) mod sealed_tokens;
pub(crate) mod tokens;
