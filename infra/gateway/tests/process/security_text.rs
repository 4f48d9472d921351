//! The settings of `/.well-known/security.txt`.

use crate::support::{Gateway, end_of, fails, gateway};

const CONTACT: &str = "GATELET_SECURITY_CONTACT";
const EXPIRES: &str = "GATELET_SECURITY_EXPIRES";

fn start(contact: &str, expires: &str) -> std::process::Command {
    let mut command = gateway(&["--memory", "--listen", "127.0.0.1:0"]);
    command.env(CONTACT, contact).env(EXPIRES, expires);
    command
}

#[test]
fn half_or_malformed_settings_of_security_txt_are_rejected_at_startup() {
    let said = |contact: &str, expires: &str| fails(&end_of(&mut start(contact, expires)));
    assert!(said("mailto:a@example.com", "").contains("GATELET_SECURITY_EXPIRES must be set"));
    assert!(said("", "2027-01-31T00:00:00Z").contains("GATELET_SECURITY_CONTACT must be set"));
    let address = said("a@example.com", "2027-01-31T00:00:00Z");
    assert!(address.contains(CONTACT) && address.contains("mailto:security@example.com"), "{address}");
    let date = said("mailto:a@example.com", "2027-01-31");
    assert!(date.contains(EXPIRES) && date.contains("2027-01-31T00:00:00Z"), "{date}");
}

#[tokio::test]
async fn an_expired_security_txt_is_served_with_a_warning() {
    let gateway = Gateway::spawn(&mut start("mailto:a@example.com", "2020-01-31T00:00:00Z"));
    let text = gateway.get("/.well-known/security.txt").await.text().await.unwrap();
    assert_eq!(text, "Contact: mailto:a@example.com\nExpires: 2020-01-31T00:00:00Z\n");
    gateway.signal("TERM");
    let (_, log) = gateway.wait();
    assert!(log.contains("GATELET_SECURITY_EXPIRES has passed"), "{log}");
}
