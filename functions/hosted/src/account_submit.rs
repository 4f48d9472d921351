//! `POST /handler/account-settings`: takes a form of the account's page.

use api::http::TableAction::{BatchGetItem, ConditionCheckItem, DeleteItem, GetItem, PutItem, Query, UpdateItem};
use api::http::{BodyRule, Need, Route};

use crate::account;
use crate::answer::Answer;
use crate::visit::Visit;

pub const ROUTE: Route = Route::post("hosted-account-submit", "/handler/account-settings")
    .summary("Takes a form of the hosted page of a user's account")
    .body(BodyRule::Form)
    .writes_nothing()
    .leaves_no_trail("the operations that a page calls are recorded themselves")
    .table(&[BatchGetItem, ConditionCheckItem, DeleteItem, GetItem, PutItem, Query, UpdateItem])
    .needs(&[Need::Hashing]);

pub async fn handle(mut visit: Visit) -> Answer {
    let answer = Box::pin(account::submit(&mut visit)).await;
    visit.finish(answer)
}
