//! Users and their contact channels.

mod contact_channel_codes;
mod contact_channel_races;
mod contact_channel_verify;
mod contact_channels;
mod me_read;
