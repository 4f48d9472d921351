//! `GET /handler/{page}`: shows a page to a project's user.

use api::http::Route;
use api::http::TableAction::{BatchGetItem, ConditionCheckItem, DeleteItem, GetItem, PutItem, Query, UpdateItem};

use crate::answer::Answer;
use crate::pages;
use crate::visit::Visit;

pub const ROUTE: Route = Route::get("hosted-page-show", "/handler/{page}")
    .summary("Shows a hosted page, such as sign-in")
    .leaves_no_trail("the operations that a page calls are recorded themselves")
    .table(&[BatchGetItem, ConditionCheckItem, DeleteItem, GetItem, PutItem, Query, UpdateItem]);

pub async fn handle(mut visit: Visit) -> Answer {
    let answer = pages::show(&mut visit).await;
    visit.finish(answer)
}
