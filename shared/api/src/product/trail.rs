//! What the trail records about a request: the operation, the items that its path names, the names
//! of the fields in its body, and the caller's IP address and location.

use axum::extract::RawPathParams;
use flows::App;
use http::request::Parts;
use model::trail::{self, Target, TargetKind};
use serde_json::Value;
use store::record::RequestStart;
use wire::id::UserId;

use crate::http::client::place;
use crate::http::route::Route;
use crate::http::table::Trail;

/// The kind of target in a path parameter, according to its name and the segment before it. `None`
/// if the parameter does not name a target: a user, for example, is recorded separately.
pub fn target_kind(segment: &str, parameter: &str) -> Option<TargetKind> {
    Some(match (segment, parameter) {
        (_, "team_id") => TargetKind::Team,
        (_, "invitation_id") => TargetKind::Invitation,
        (_, "permission_id") => TargetKind::Permission,
        (_, "contact_channel_id") => TargetKind::ContactChannel,
        (_, "passkey_id") => TargetKind::Passkey,
        (_, "authenticator_id") => TargetKind::Authenticator,
        (_, "device_id") => TargetKind::Device,
        (_, "notification_category_id") => TargetKind::NotificationCategory,
        ("projects", "project_id") => TargetKind::Project,
        (_, "grant_id") => TargetKind::OauthGrant,
        (_, "level") => TargetKind::ConfigLevel,
        ("callback", "provider_id") => TargetKind::Provider,
        (_, "provider_id") => TargetKind::ProviderAccount,
        ("sessions", "id") => TargetKind::Session,
        ("api-keys", "id") => TargetKind::KeySet,
        ("user-api-keys" | "team-api-keys", "id") => TargetKind::ApiKey,
        ("oauth-clients", "id") => TargetKind::OauthClient,
        ("oauth-resources", "id") => TargetKind::OauthResource,
        ("webhook-endpoints", "id") => TargetKind::WebhookEndpoint,
        ("deliveries", "delivery_id") => TargetKind::WebhookDelivery,
        ("outbox", "id") => TargetKind::Email,
        ("email-templates", "id") => TargetKind::EmailTemplate,
        ("email-themes", "id") => TargetKind::EmailTheme,
        ("email-drafts", "id") => TargetKind::EmailDraft,
        _ => return None,
    })
}

/// The parameters of a path, each with the segment before it.
pub fn parameters(path: &str) -> impl Iterator<Item = (&str, &str)> {
    let segments = path.split('/').zip(path.split('/').skip(1));
    segments.filter_map(|(before, segment)| Some((before, segment.strip_prefix('{')?.strip_suffix('}')?)))
}

/// What a request's trail entry records about the request; `None` if its route does not add an
/// entry.
pub(crate) fn started(app: &App, parts: &Parts, path: Option<&RawPathParams>, body: Option<&Value>) -> Option<RequestStart> {
    let route = parts.extensions.get::<Route>().filter(|route| route.table.trail == Trail::Entry)?;
    let value = |name: &str| path?.iter().find(|(of, _)| *of == name).map(|(_, value)| value);
    let target = |(before, name)| Some(Target::new(target_kind(before, name)?, value(name)?));
    // If unknown fields are permitted, senders could choose the names, so no names are recorded.
    let fields = body.filter(|_| !route.body.ignores_unknown_fields()).map(trail::fields).unwrap_or_default();
    let at = app.clock.now();
    Some(RequestStart {
        id: app.entropy.ordered_uuid(at).into(),
        at,
        operation: route.name.to_owned(),
        targets: parameters(route.path).filter_map(target).collect(),
        fields,
        place: Some(place(parts, &app.settings)),
    })
}

/// The user in a path; `me` stands for `own`.
pub(crate) fn named_user(path: Option<&RawPathParams>, own: Option<UserId>) -> Option<UserId> {
    match path?.iter().find(|(name, _)| *name == "user_id")?.1 {
        "me" => own,
        id => UserId::parse(id).ok(),
    }
}
