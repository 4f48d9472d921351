//! Mails: SES knows the sender, lets the account send to everybody, and says what became of each mail.

use std::io::{self, Write};

use aws::Service;
use email::ses_api::SesApi;

use super::deployment::Deployment;
use super::report::Report;
use crate::causes::with_causes;

pub(super) async fn examine(deployment: &Deployment, report: &mut Report<impl Write>) -> io::Result<()> {
    let client = match deployment.aws.client(Service::Ses) {
        Ok(client) => SesApi::new(client),
        Err(error) => return report.fail("mail", error),
    };
    examine_account(&client, report).await?;
    match &deployment.sender {
        Some(sender) => examine_sender(&client, sender, report).await?,
        None => report.warn("sender", "not asked: --sender says whom mails come from")?,
    }
    match &deployment.configuration_set {
        Some(name) => examine_events(&client, name, report).await,
        None => report.warn("mail events", "not asked: --configuration-set names the set of the mails"),
    }
}

async fn examine_account(client: &SesApi, report: &mut Report<impl Write>) -> io::Result<()> {
    match client.get_account().await {
        Err(error) => report.warn("mail", format!("SES cannot be asked: {}", with_causes(&error))),
        Ok(account) if !account.sending_enabled => report.fail("mail", "SES has stopped the account from sending"),
        Ok(account) if !account.production_access_enabled => {
            report.warn("mail", "the account is in SES's sandbox: it sends to verified addresses alone; ask AWS for production access")
        }
        Ok(account) => {
            let quota = account.send_quota.map_or(0.0, |quota| quota.max_send_rate);
            report.ok("mail", format!("SES sends {quota} mails a second"))
        }
    }
}

/// An address is verified by itself, or by its domain.
async fn examine_sender(client: &SesApi, sender: &str, report: &mut Report<impl Write>) -> io::Result<()> {
    let domain = sender.rsplit_once('@').map(|(_, domain)| domain);
    let mut reason = "SES does not know it".to_owned();
    for identity in [Some(sender), domain].into_iter().flatten() {
        match client.get_email_identity(identity).await {
            Ok(found) if found.verified_for_sending_status => return report.ok("sender", format!("{identity} is verified")),
            Ok(_) => reason = format!("{identity} is not verified yet"),
            Err(error) if error.is_not_found() => {}
            Err(error) => return report.warn("sender", format!("cannot be asked: {}", with_causes(&error))),
        }
    }
    report.fail("sender", format!("mails from {sender} are refused: {reason}"))
}

async fn examine_events(client: &SesApi, name: &str, report: &mut Report<impl Write>) -> io::Result<()> {
    let found = client.get_event_destinations(name).await;
    match found {
        Err(error) if error.is_not_found() => {
            report.fail("mail events", format!("there is no configuration set {name}: SES refuses the mails"))
        }
        Err(error) => report.warn("mail events", format!("cannot be asked: {}", with_causes(&error))),
        Ok(found) => {
            let is_fit = found.event_destinations.iter().any(|one| one.enabled && one.event_bridge_destination.is_some());
            if is_fit {
                report.ok("mail events", format!("{name} sends them to EventBridge"))
            } else {
                report.warn("mail events", format!("{name} sends none to EventBridge: nobody hears of bounces and complaints"))
            }
        }
    }
}
