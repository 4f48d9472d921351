//! Requests and responses of the content API, the product API and the endpoints for agents: routes,
//! access, the Lambda runner, logging.

#![warn(missing_docs)]

pub mod content;
pub mod http;
pub mod product;
pub mod rpc;
