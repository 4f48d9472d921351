//! The rules, without AWS and without HTTP: what an entity is, and what may become of it.

pub mod bot_challenge;
pub mod bot_challenge_altcha;
pub mod bot_challenge_rate;
pub mod bot_challenge_turnstile;
pub mod category;
pub mod channel;
#[cfg(test)]
mod channel_tests;
pub mod code;
pub mod config;
pub mod config_patch;
pub mod content;
pub mod delivery;
pub mod either;
pub mod email;
pub mod email_input;
pub mod id;
pub mod invitation;
mod json_text;
pub mod key_set;
pub mod limit;
pub mod line;
pub mod mail_document;
pub mod mail_quota;
pub mod mail_server;
pub mod member_profile;
pub mod metadata;
pub mod mfa;
pub mod notice;
pub mod notice_kind;
#[cfg(test)]
mod notice_tests;
pub mod notices;
pub mod outbox;
pub mod outbox_body;
pub mod outbox_codes;
#[cfg(test)]
mod outbox_codes_tests;
pub mod outbox_kept;
pub mod outbox_patch;
pub mod outbox_report;
pub mod outbox_reports;
pub mod outbox_status;
#[cfg(test)]
mod outbox_tests;
pub mod outbox_view;
#[cfg(test)]
mod outbox_walks;
pub mod outbox_work;
pub mod ownership;
#[cfg(test)]
mod ownership_tests;
mod packed_text;
pub mod password;
pub mod permission;
#[cfg(test)]
mod permission_tests;
pub mod place;
pub mod profile_image;
pub mod project;
pub mod project_patch;
pub mod project_setting;
pub mod project_view;
pub mod provider_account;
#[cfg(test)]
mod provider_account_tests;
pub mod provider_input;
pub mod provider_sign_in;
pub mod redirect;
pub mod restriction;
pub mod risk;
pub mod senders;
pub mod session;
pub mod sign_up_rule;
#[cfg(test)]
mod sign_up_rule_tests;
pub mod sign_up_verdict;
pub mod standing;
pub mod team;
pub mod team_view;
pub mod theme;
pub mod token;
pub mod totp;
pub mod trail;
pub mod trail_chain;
pub mod trail_check;
pub mod trail_retention;
pub mod trail_view;
pub mod user;
pub mod user_filter;
pub mod user_input;
pub mod user_patch;
pub mod user_ref;
pub mod user_values;
pub mod user_view;
