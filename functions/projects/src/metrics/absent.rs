//! Figures about payments and page views, which are empty or zero, because the service does not
//! record payments or page views.

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;

use crate::metrics::series::Point;

/// The service has no payments.
#[derive(Default, Serialize, ToSchema)]
pub(crate) struct PaymentsOverview {
    /// Always empty.
    subscriptions_by_status: BTreeMap<String, u64>,
    /// Always 0.
    active_subscription_count: u64,
    /// Always 0.
    total_one_time_purchases: u64,
    /// Always empty.
    daily_subscriptions: Vec<Point>,
    /// Always 0.
    revenue_cents: u64,
    /// Always 0.
    mrr_cents: u64,
    /// Always 0.
    total_orders: u64,
    /// Always 0.
    checkout_conversion_rate: f64,
}

/// Page views are not recorded.
#[derive(Default, Serialize, ToSchema)]
pub(crate) struct AnalyticsOverview {
    /// Always empty.
    daily_page_views: Vec<Point>,
    /// Always empty.
    daily_clicks: Vec<Point>,
    /// Always empty.
    daily_visitors: Vec<Point>,
    /// Always empty.
    daily_revenue: Vec<Point>,
    /// Always 0.
    total_revenue_cents: u64,
    /// Always 0.
    total_replays: u64,
    /// Always 0.
    recent_replays: u64,
    /// Always 0.
    visitors: u64,
    /// Always 0.
    avg_session_seconds: u64,
    /// Always 0.
    online_live: u64,
    /// Always 0.
    revenue_per_visitor: f64,
    /// Always empty.
    top_referrers: Vec<Referrer>,
    /// Always `null`.
    top_region: Option<String>,
}

/// A site from which visitors came.
#[derive(Serialize, ToSchema)]
pub(crate) struct Referrer {}
