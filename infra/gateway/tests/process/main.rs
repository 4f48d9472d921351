//! The gateway as its users run it: its program, ports, data folder, signals and command line.
#![expect(clippy::unwrap_used, reason = "a test fails if something is missing")]
#![expect(clippy::disallowed_methods, reason = "the gateway is on this machine")]

mod audit;
mod aws;
mod commands;
mod connections;
mod console;
mod content;
mod crashes;
mod deployment;
mod doctor;
mod dynamodb;
mod failures;
mod fairness;
mod folder;
mod health;
mod inbox;
mod limits;
mod mail_server;
mod older;
mod page_key;
mod pages;
mod proxies;
mod renderer;
mod reseal;
mod security_text;
mod serve;
mod smuggling;
mod support;
mod transfer;
mod users;
mod webhooks;
