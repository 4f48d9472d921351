//! `gateway health`, the health check of containers.

use crate::support::{Folder, Gateway, fails, run, succeeds};

#[tokio::test]
async fn a_gateway_is_healthy_while_it_answers() {
    let folder = Folder::new("health");
    let gateway = Gateway::start(&folder.data());
    let url = format!("http://127.0.0.1:{}", gateway.port());
    let health = || run(&["health", "--url", &url]);
    assert_eq!(succeeds(&health()), format!("{url}/health answers\n"));
    // There is no `/health` below this base URL, so the gateway responds with 404.
    let lost = fails(&run(&["health", "--url", &format!("{url}/api/v1")]));
    assert!(lost.contains("404"), "{lost}");
    drop(gateway);
    let gone = fails(&health());
    assert!(gone.contains("does not respond"), "{gone}");
}
