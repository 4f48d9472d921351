//! The figures about payments and page views, which are not a part of the service: zeros and empty
//! lists, as a project without any has them.

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;

use crate::metrics::series::Point;

/// Payments are not a part of the service.
#[derive(Default, Serialize, ToSchema)]
pub(crate) struct PaymentsOverview {
    subscriptions_by_status: BTreeMap<String, u64>,
    active_subscription_count: u64,
    total_one_time_purchases: u64,
    daily_subscriptions: Vec<Point>,
    revenue_cents: u64,
    mrr_cents: u64,
    total_orders: u64,
    checkout_conversion_rate: f64,
}

/// Page views are not recorded.
#[derive(Default, Serialize, ToSchema)]
pub(crate) struct AnalyticsOverview {
    daily_page_views: Vec<Point>,
    daily_clicks: Vec<Point>,
    daily_visitors: Vec<Point>,
    daily_revenue: Vec<Point>,
    total_revenue_cents: u64,
    total_replays: u64,
    recent_replays: u64,
    visitors: u64,
    avg_session_seconds: u64,
    online_live: u64,
    revenue_per_visitor: f64,
    top_referrers: Vec<Referrer>,
    /// Always `null`.
    top_region: Option<String>,
}

/// A site from which visitors came.
#[derive(Serialize, ToSchema)]
pub(crate) struct Referrer {}
