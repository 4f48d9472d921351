//! `GET /handler/account-settings`: shows the account of a project's user.

use api::http::Route;
use api::http::TableAction::BatchGetItem;
use auth_functions::{mfa_device_list, session_list, session_refresh};
use keys_functions::user_key_list;
use openid_functions::grant_list;
use teams_functions::{invitation_list, team_list};
use users_functions::me_activity;

use crate::account;
use crate::answer::Answer;
use crate::visit::account::AccountVisit;

const CALLS: &[Route] = &[
    grant_list::ROUTE,
    invitation_list::ROUTE,
    me_activity::ROUTE,
    mfa_device_list::ROUTE,
    session_list::ROUTE,
    session_refresh::ROUTE,
    team_list::ROUTE,
    user_key_list::ROUTE,
];

pub const ROUTE: Route = Route::get("hosted-account-show", "/handler/account-settings")
    .summary("Shows the hosted page of a user's account")
    .table(&[BatchGetItem])
    .page(CALLS);

pub async fn handle(AccountVisit(mut visit): AccountVisit) -> Answer {
    let answer = Box::pin(account::show(&mut visit)).await;
    visit.finish(answer)
}
