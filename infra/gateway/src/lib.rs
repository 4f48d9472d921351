//! All of Gatelet in one process and on one port: the same handlers as on AWS, with an embedded
//! DynamoDB engine, and with an inbox instead of SES.
//!
//! The gateway is meant for development, tests and installations on a single machine. For larger
//! installations, the same code runs on Lambda and DynamoDB.

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
