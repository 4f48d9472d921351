//! Checks emails: SES must know the sender, the account must be allowed to send to everyone, and
//! delivery events must be published.

use std::io::{self, Write};

use aws::Service;
use email::ses_api::SesApi;

use super::deployment::Deployment;
use super::report::Report;
use crate::causes::with_causes;

pub(super) async fn examine(deployment: &Deployment, report: &mut Report<impl Write>) -> io::Result<()> {
    let client = match deployment.aws.client(Service::Ses) {
        Ok(client) => SesApi::new(client),
        Err(error) => return report.fail("email", error),
    };
    examine_account(&client, report).await?;
    match &deployment.sender {
        Some(sender) => examine_sender(&client, sender, report).await?,
        None => report.warn("sender", "not checked: --sender is not set")?,
    }
    match &deployment.configuration_set {
        Some(name) => examine_events(&client, name, report).await,
        None => report.warn("email events", "not checked: --configuration-set is not set"),
    }
}

async fn examine_account(client: &SesApi, report: &mut Report<impl Write>) -> io::Result<()> {
    match client.get_account().await {
        Err(error) => report.warn("email", format!("cannot query SES: {}", with_causes(&error))),
        Ok(account) if !account.sending_enabled => {
            report.fail("email", "sending is disabled for the account: see the reason in the SES account dashboard")
        }
        Ok(account) if !account.production_access_enabled => {
            report.warn("email", "the account is in the SES sandbox and can only send to verified addresses: request production access")
        }
        Ok(account) => {
            let quota = account.send_quota.map_or(0.0, |quota| quota.max_send_rate);
            report.ok("email", format!("SES sends {quota} emails per second"))
        }
    }
}

/// Checks that SES accepts emails from the sender, whose address or domain must be verified.
async fn examine_sender(client: &SesApi, sender: &str, report: &mut Report<impl Write>) -> io::Result<()> {
    let domain = sender.rsplit_once('@').map(|(_, domain)| domain);
    let mut reason = "SES does not know this sender".to_owned();
    for identity in [Some(sender), domain].into_iter().flatten() {
        match client.get_email_identity(identity).await {
            Ok(found) if found.verified_for_sending_status => return report.ok("sender", format!("{identity} is verified")),
            Ok(_) => reason = format!("{identity} is not verified yet"),
            Err(error) if error.is_not_found() => {}
            Err(error) => return report.warn("sender", format!("cannot query SES: {}", with_causes(&error))),
        }
    }
    report.fail("sender", format!("emails from {sender} are rejected: {reason}; verify the sender in SES"))
}

async fn examine_events(client: &SesApi, name: &str, report: &mut Report<impl Write>) -> io::Result<()> {
    let found = client.get_event_destinations(name).await;
    match found {
        Err(error) if error.is_not_found() => {
            report.fail("email events", format!("configuration set {name} does not exist: SES rejects the emails"))
        }
        Err(error) => report.warn("email events", format!("cannot query SES: {}", with_causes(&error))),
        Ok(found) => {
            let is_fit = found.event_destinations.iter().any(|one| one.enabled && one.event_bridge_destination.is_some());
            if is_fit {
                report.ok("email events", format!("{name} sends them to EventBridge"))
            } else {
                report.warn("email events", format!("{name} sends none to EventBridge, so bounces and complaints go unnoticed"))
            }
        }
    }
}
