//! The links of an audit trail after the deployment secret is replaced.

use crypto::deployment_secret::DeploymentSecret;
use crypto::trail_keys::TrailKeys;
use model::trail::check::Problem;
use store::reseal::ResealResult;
use support::TestApp;

use super::chain::check;
use super::rename;

const OLD: &str = "a deployment secret for tests alone";
const NEW: &str = "the deployment secret that comes after it";

async fn authenticate_anew(app: &TestApp) -> ResealResult {
    let keys = TrailKeys::new(&app.app.settings.secret);
    let mut all = ResealResult::default();
    for item in app.app.store.items(None).await.unwrap().0 {
        all = all.and(app.app.store.authenticate_anew(&keys, &item).await.unwrap());
    }
    all
}

#[tokio::test]
async fn links_of_the_previous_secret_stay_verifiable_and_are_resealed() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    app.link_trail().await;
    let new = || DeploymentSecret::from(NEW.to_owned());
    let during = app.redeployed(|settings| settings.secret = new().with_previous(OLD.to_owned().into()));
    let after = app.redeployed(|settings| settings.secret = new());

    assert_eq!(check(&during).await.problems(), []);
    assert_eq!(check(&after).await.problems(), [Problem::LinkChanged(1), Problem::HeadChanged]);
    rename(&during, &ada, "A").await;
    assert!(after.try_link(app.project_id()).await.is_err(), "an unknown head is not extended");
    during.link_trail().await;
    assert_eq!(check(&during).await.problems(), []);

    // The first link is authenticated again. The second link and the head already use the new
    // secret.
    assert_eq!(authenticate_anew(&during).await, ResealResult { anew: 1, current: 2, lost: Vec::new() });
    assert_eq!(authenticate_anew(&during).await, ResealResult { anew: 0, current: 3, lost: Vec::new() });
    assert_eq!(check(&after).await.problems(), []);
    let last = check(&after).await.report.last;
    assert_eq!(last, check(&during).await.report.last, "a recorded link stays valid");
    assert_eq!(authenticate_anew(&app).await.lost.len(), 3);
    rename(&after, &ada, "B").await;
    assert_eq!(after.link_trail().await, 1);
    assert_eq!(check(&after).await.problems(), []);
}
