//! `GET /api/v1/internal/metrics`: returns figures about the users, teams and emails of the
//! project.
//!
//! Instead of counting users and teams, the operation reads totals and daily figures from counters
//! ([`store::metrics`]). A worker updates most of the counters, so they may be a minute or two
//! behind.

use std::collections::BTreeMap;

use api::http::TableAction::{BatchGetItem, Query};
use api::http::{Json, Route};
use api::product::input::{Flag, IgnoredBody};
use api::product::{Access, Admin, Input};
use axum::extract::State;
use deserr::Deserr;
use errors::Error;
use flows::App;
use model::metrics::activity::{Counts, Day, Kind, day, distinct};
use model::metrics::tally::{ANONYMOUS, ANONYMOUS_COUNTRY, COUNTRY, METHOD, TEAMS, Tally, USERS, VERIFIED};
use model::user::filter::UserFilter;
use model::view::user::ServerUser;
use serde::Serialize;
use store::metrics::{Figures, SignUps};
use utoipa::ToSchema;
use wire::clock::Millis;

use crate::metrics::absent::{AnalyticsOverview, PaymentsOverview};
use crate::metrics::emails::{EmailOverview, overview};
use crate::metrics::series::{ActiveSplit, Point, points};
use crate::metrics::users::{last_active, newest, views};

pub const ROUTE: Route = Route::get("projects-internal-metrics", "/api/v1/internal/metrics")
    .summary("Returns figures about users, teams and emails")
    .table(&[BatchGetItem, Query]);

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct MetricsQuery {
    /// Whether anonymous users count as users. Default: `false`.
    include_anonymous: Flag,
}

#[derive(Serialize, ToSchema)]
pub struct Metrics {
    /// The time when the users were last counted one by one. Later changes are added to that count.
    /// `null` if the users were never counted. The totals then contain only the changes since the
    /// project's audit log began.
    #[schema(value_type = Option<i64>)]
    counted_at_millis: Option<Millis>,
    /// The number of users who have signed up. With `include_anonymous`, anonymous users are
    /// included.
    total_users: u64,
    /// Sign-ups in the last 30 days, by day.
    daily_users: Vec<Point>,
    /// Users who were active in the last 30 days, by day.
    daily_active_users: Vec<Point>,
    /// The number of users by the country of their sign-up (ISO 3166-1 alpha-2). Users whose
    /// country is unknown are not included.
    users_by_country: BTreeMap<String, u64>,
    /// The five newest users.
    recently_registered: Vec<ServerUser>,
    /// The five users who most recently signed in or changed something within the last seven days.
    recently_active: Vec<ServerUser>,
    /// The sign-in methods, in descending order of their numbers of users.
    login_methods: Vec<LoginMethod>,
    auth_overview: AuthOverview,
    email_overview: EmailOverview,
    payments_overview: PaymentsOverview,
    analytics_overview: AnalyticsOverview,
}

/// The number of users who can sign in with a method. A user with several methods counts for each
/// of them.
#[derive(Serialize, ToSchema)]
pub struct LoginMethod {
    /// `password`, `otp`, `passkey`, or the id of a provider.
    method: String,
    /// The number of users who can use the method.
    count: u64,
}

/// The users and teams of the project.
#[derive(Serialize, ToSchema)]
pub struct AuthOverview {
    /// The number of users with a verified primary email address.
    verified_users: u64,
    /// The number of all other users who have signed up.
    unverified_users: u64,
    /// The number of users who have not signed up yet.
    anonymous_users: u64,
    /// Teams.
    total_teams: u64,
    /// The number of unique users who were active in the last 30 days.
    mau: u64,
    daily_active_users_split: ActiveSplit,
    /// A team counts as active on a day if a user who has selected the team was active that day.
    daily_active_teams_split: ActiveSplit,
    /// The same number as in `total_users`.
    total_users_filtered: u64,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Admin>,
    Input { query, .. }: Input<IgnoredBody, MetricsQuery>,
) -> Result<Json<Metrics>, Error> {
    let (project, now) = (&access.project, app.clock.now());
    let includes_anonymous = query.include_anonymous.is_set();
    let filter = UserFilter { includes_restricted: true, includes_anonymous, ..UserFilter::default() };
    let (figures, activities, emails, newest, active) = tokio::try_join!(
        app.store.figures(&project.id, now),
        app.store.activities(&project.id, now),
        overview(&app, project),
        newest(&app, project, &filter),
        last_active(&app, project, &filter),
    )?;
    let [recently_registered, recently_active] = views(&app, project, [newest, active]).await?;
    let kinds: &[Kind] = if includes_anonymous { &[Kind::User, Kind::Anonymous] } else { &[Kind::User] };
    let (today, totals) = (day(now), &figures.totals.tally);
    let total_users = total(totals, USERS) + if includes_anonymous { total(totals, ANONYMOUS) } else { 0 };
    let auth_overview = auth_overview(totals, &activities, today, kinds, total_users);
    Ok(Json(Metrics {
        counted_at_millis: figures.totals.counted_at.map(jiff::Timestamp::as_millisecond),
        total_users,
        daily_users: sign_ups(&figures, today, includes_anonymous),
        daily_active_users: auth_overview.daily_active_users_split.total.clone(),
        users_by_country: by_country(totals, includes_anonymous),
        recently_registered,
        recently_active,
        login_methods: login_methods(totals),
        auth_overview,
        email_overview: emails,
        payments_overview: PaymentsOverview::default(),
        analytics_overview: AnalyticsOverview::default(),
    }))
}

/// A total, or 0 if the total is negative. A negative total is possible in a project whose users
/// were never counted.
fn total(totals: &Tally, name: &str) -> u64 {
    u64::try_from(totals.get(name)).unwrap_or_default()
}

fn auth_overview(totals: &Tally, activities: &BTreeMap<Day, Counts>, today: Day, kinds: &[Kind], all: u64) -> AuthOverview {
    let verified = total(totals, VERIFIED);
    AuthOverview {
        verified_users: verified,
        unverified_users: total(totals, USERS).saturating_sub(verified),
        anonymous_users: total(totals, ANONYMOUS),
        total_teams: total(totals, TEAMS),
        mau: distinct(activities, today, kinds),
        daily_active_users_split: ActiveSplit::count(activities, today, kinds),
        daily_active_teams_split: ActiveSplit::count(activities, today, &[Kind::Team]),
        total_users_filtered: all,
    }
}

fn sign_ups(figures: &Figures, today: Day, includes_anonymous: bool) -> Vec<Point> {
    let of = |SignUps { users, anonymous }: SignUps| users + if includes_anonymous { anonymous } else { 0 };
    points(today, |day| figures.sign_ups.get(&day).copied().map(of).unwrap_or_default())
}

fn by_country(totals: &Tally, includes_anonymous: bool) -> BTreeMap<String, u64> {
    let anonymous = totals.with_prefix(ANONYMOUS_COUNTRY).filter(|_| includes_anonymous);
    let mut countries: BTreeMap<String, u64> = BTreeMap::new();
    for (country, count) in totals.with_prefix(COUNTRY).chain(anonymous) {
        *countries.entry(country.to_owned()).or_default() += count.unsigned_abs();
    }
    countries
}

fn login_methods(totals: &Tally) -> Vec<LoginMethod> {
    let method = |(method, count): (&str, i64)| LoginMethod { method: method.to_owned(), count: count.unsigned_abs() };
    let mut methods: Vec<LoginMethod> = totals.with_prefix(METHOD).map(method).collect();
    methods.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.method.cmp(&b.method)));
    methods
}
