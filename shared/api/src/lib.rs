//! Requests and responses of both interfaces: routes, access, the Lambda runner, logging.

#![warn(missing_docs)]

pub mod content;
pub mod http;
pub mod product;
pub mod rpc;
