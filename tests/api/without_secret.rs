//! Operations that do not declare a need for the deployment secret respond in the same way without
//! the secret. Their Lambda functions do not have the secret.

use api::http::Need;
use crypto::deployment_secret::DeploymentSecret;
use infra::operations;
use model::limit::Limits;
use support::Answer;

use crate::events::{World, name, success};

#[tokio::test]
async fn operations_without_the_secret_answer_the_same() {
    let mut count = 0;
    for operation in operations::all().iter().filter(|operation| !operation.route.needs.has(Need::Secret)) {
        let event = name(operation);
        // Each request is sent to a new world, because some requests change data and some responses
        // contain random ids.
        let wanted = World::equal(Limits::off()).await.send(&event).await;
        let world = World::equal(Limits::off()).await;
        let without = world.app.redeployed(|settings| settings.secret = DeploymentSecret::absent());
        let found = Answer::read(without.answer(world.request(&event)).await).await;
        assert_eq!((found.status(), found.bytes()), (wanted.status(), wanted.bytes()), "{event}");
        assert_eq!(found.status(), success(operation), "{event}");
        count += 1;
    }
    assert!(count > 8, "{count} operations need no secret");
}

#[tokio::test]
async fn a_token_is_rejected_where_it_cannot_be_verified() {
    let world = World::unobserved(Limits::off()).await;
    let without = world.app.redeployed(|settings| settings.secret = DeploymentSecret::absent());
    let answer = Answer::read(without.answer(world.request("users/me-read")).await).await;
    assert_eq!((answer.status(), answer.code().as_str()), (401, "UNPARSABLE_ACCESS_TOKEN"));
}
