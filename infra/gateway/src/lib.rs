//! All of Gatelet in one process on one port: the same handlers on an embedded DynamoDB engine,
//! with an inbox instead of SES.
//!
//! For development, tests and installations on a single machine; beyond that, the same code runs on
//! Lambda and DynamoDB.

pub mod aws;
mod causes;
pub mod cli;
mod commits;
mod compression;
pub mod content;
mod damage;
pub mod data;
pub mod doctor;
mod dynamodb;
pub mod engine;
mod http_client;
pub mod inbox;
pub mod keys;
mod loopback;
mod page_key;
pub mod pages;
mod saved_keys;
mod say;
mod server;
pub mod service;
