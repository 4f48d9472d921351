//! Requests and responses of the content API, the product API, the endpoints for agents and the
//! pages: routes, access, the Lambda runner, logging.

#![warn(missing_docs)]

pub mod content;
pub mod http;
pub mod pages;
pub mod product;
pub mod rpc;
