//! `GET /handler/account-settings`: shows the account of a project's user.

use api::http::Route;
use api::http::TableAction::{BatchGetItem, ConditionCheckItem, DeleteItem, GetItem, PutItem, Query, UpdateItem};

use crate::account;
use crate::answer::Answer;
use crate::visit::Visit;

pub const ROUTE: Route = Route::get("hosted-account-show", "/handler/account-settings")
    .summary("Shows the hosted page of a user's account")
    .leaves_no_trail("the operations that a page calls are recorded themselves")
    .table(&[BatchGetItem, ConditionCheckItem, DeleteItem, GetItem, PutItem, Query, UpdateItem]);

pub async fn handle(mut visit: Visit) -> Answer {
    let answer = Box::pin(account::show(&mut visit)).await;
    visit.finish(answer)
}
