//! The domain model, without AWS and HTTP: the entities, their rules and their state transitions.

#![warn(missing_docs)]

pub mod bot_challenge;
pub mod code;
pub mod content;
pub mod document;
pub mod email;
pub mod limit;
pub mod metadata;
pub mod metrics;
pub mod notice;
pub mod openid;
pub mod outbox;
pub mod owned_key;
pub mod passkey;
pub mod password;
pub mod permission;
pub mod place;
pub mod profile_image;
pub mod project;
pub mod provider;
pub mod quota;
pub mod security_contact;
pub mod session;
pub mod setting;
pub mod sign_in;
pub mod sign_up;
pub mod team;
pub mod text;
pub mod trail;
pub mod user;
pub mod view;
pub mod webhook;
