//! `POST /handler/{page}`: takes the form of a page.

use api::http::TableAction::{BatchGetItem, ConditionCheckItem, DeleteItem, GetItem, PutItem, Query, UpdateItem};
use api::http::{BodyRule, Need, Route};

use crate::answer::Answer;
use crate::pages;
use crate::visit::Visit;

pub const ROUTE: Route = Route::post("hosted-page-submit", "/handler/{page}")
    .summary("Takes the form of a hosted page")
    .body(BodyRule::Form)
    .writes_nothing()
    .leaves_no_trail("the operations that a page calls are recorded themselves")
    .table(&[BatchGetItem, ConditionCheckItem, DeleteItem, GetItem, PutItem, Query, UpdateItem])
    .needs(&[Need::Hashing]);

pub async fn handle(mut visit: Visit) -> Answer {
    let answer = pages::submit(&mut visit).await;
    visit.finish(answer)
}
