//! `POST /api/v1/internal/send-test-email`: sends a test email through a mail server that the
//! project uses or is going to use. The status is 200, whatever the mail server replies; the
//! response body says whether the email was sent.
//!
//! The request names the server, so someone could misuse the operation to scan other networks for
//! services. As for every email, private addresses are refused, and the server needs a valid
//! certificate for its name. In addition, only the ports of mail servers are contacted. The
//! response is the same for names that do not resolve and for names with private addresses. Test
//! emails also have a separate rate limit.

use std::time::Duration;

use api::http::TableAction::{BatchGetItem, GetItem, UpdateItem};
use api::http::{Json, Route};
use api::product::{Access, Admin, Input};
use axum::extract::State;
use deserr::Deserr;
use email::send::{Mail, Sender, Server};
use email::smtp::Smtp;
use errors::{Error, KnownError};
use flows::App;
use flows::email::gate::count_recipient;
use model::email::Email;
use model::limit::Limit;
use model::outbox::SendError;
use model::outbox::work::Outcome;
use model::project::email_config::EmailConfig;
use model::project::email_input::EmailInput;
use model::text::line;
use net::tls;
use serde::Serialize;
use tokio::time::timeout;
use utoipa::ToSchema;
use wire::id::EmailId;
use wire::problem::Problems;

pub const ROUTE: Route = Route::post("emails-send-test-email", "/api/v1/internal/send-test-email")
    .summary("Sends a test email through a mail server")
    .limit(Limit::TestEmail)
    .table(&[BatchGetItem, GetItem, UpdateItem])
    .leaves_no_trail("it only counts its recipient");

/// The maximum time for sending the email. The function may take one second longer.
const TIMEOUT: Duration = Duration::from_secs(9);
/// The ports on which mail servers accept emails (RFC 8314 and RFC 5321), and alternatives for
/// networks that block these ports.
const PORTS: [u16; 6] = [25, 465, 587, 2465, 2525, 2587];
/// The maximum length of the description of a failure, in characters. The description includes the
/// mail server's reply.
const MAX_TOLD: usize = 400;

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct SendTestEmail {
    recipient_email: Email,
    email_config: TestedServer,
}

/// The mail server and the sender to try.
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct TestedServer {
    /// A domain or an IP address.
    host: String,
    /// 25, 465, 587, 2465, 2525 or 2587. The ports 465 and 2465 use TLS from the start, and the
    /// other ports use STARTTLS.
    port: u16,
    /// Empty for a server without authentication.
    username: String,
    /// If the host, the port and the username are the project's, this can be the placeholder that
    /// the API shows instead of the project's password.
    password: String,
    /// The name in the `From` header. If it is empty, the name of the project is used.
    sender_name: String,
    /// The address in the `From` header.
    sender_email: String,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Tested)]
pub struct TestEmailResult {
    /// Whether the mail server accepted the email.
    success: bool,
    /// The reason why the email was not sent. Absent if it was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    error_message: Option<String>,
}

impl TestedServer {
    /// The project's settings for sending through this server.
    fn check(self, access: &Access<Admin>) -> Result<EmailConfig, KnownError> {
        if self.host.is_empty() {
            return Err(invalid("body.email_config.host", "is required"));
        }
        let input = EmailInput {
            r#type: "standard".to_owned(),
            host: Some(self.host),
            port: Some(self.port),
            username: Some(self.username),
            password: Some(self.password),
            sender_name: Some(self.sender_name),
            sender_email: Some(self.sender_email),
        };
        let project = &access.project;
        let checked = input.check(&project.config.email, project.id.as_str(), &access.app.deployment());
        checked.map_err(|error| invalid(&error.path.replacen("config.", "body.", 1), &error.message))
    }
}

fn invalid(path: &str, message: &str) -> KnownError {
    ROUTE.schema_error(&Problems::one(path, message))
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Admin>,
    Input { body, .. }: Input<SendTestEmail>,
) -> Result<Json<TestEmailResult>, Error> {
    let settings = body.email_config.check(&access)?;
    let project = &access.project;
    let server = settings.server.as_ref().map(|server| Server::open(server, &project.id, &app.sealer)).transpose();
    let (Ok(Some(server)), Some(address)) = (server, settings.sender_email) else {
        return Ok(Json(failed("the password of the mail server cannot be decrypted: enter it again")));
    };
    let is_relay = app.settings.mail_relays.include(&server.host, server.port);
    if !PORTS.contains(&server.port) && !is_relay && !app.settings.allow_private_issuers {
        return Ok(Json(failed(format!("test emails are sent only to the ports {}", PORTS.map(|port| port.to_string()).join(", ")))));
    }
    count_recipient(&access, &body.recipient_email).await?;
    let name = &project.display_name;
    let mail = Mail {
        id: EmailId::from(app.entropy.uuid()),
        project: project.id.clone(),
        attempt: app.clock.now().as_millisecond(),
        from: Sender { name: settings.sender_name.unwrap_or_else(|| name.clone()), address },
        to: vec![body.recipient_email],
        subject: format!("Test email from {name}"),
        html: None,
        text: Some(format!("This is a test email from {}. If you can read it, the mail server works.\n", line::unlinked(name))),
        unsubscribe: None,
        is_automatic: true,
        server: Some(server),
    };
    Ok(Json(send(&app, &mail).await))
}

async fn send(app: &App, mail: &Mail) -> TestEmailResult {
    let Ok(smtp) = Smtp::trusting(&app.settings, tls::public_roots, app.clock.clone()) else {
        return failed("the certificates that SSL_CERT_FILE names cannot be read");
    };
    let Some(server) = &mail.server else { return failed("there is no mail server") };
    match timeout(TIMEOUT, smtp.try_send(mail, server)).await {
        Ok(Outcome::Sent { .. }) => TestEmailResult { success: true, error_message: None },
        Ok(Outcome::Retryable(failure) | Outcome::Final(failure)) => failed(told(&failure)),
        Ok(Outcome::Skipped(_)) => failed("the email has no recipient"),
        Err(_) => failed(format!("the mail server took longer than {} seconds", TIMEOUT.as_secs())),
    }
}

fn failed(message: impl Into<String>) -> TestEmailResult {
    TestEmailResult { success: false, error_message: Some(message.into()) }
}

/// Describes a failure, with the mail server's reply if the server refused the email. Causes that
/// may be network errors are left out, because they would reveal which services a network contains.
fn told(failure: &SendError) -> String {
    match failure.class.as_str() {
        "HOST_NOT_FOUND" => "the mail server's name has no public address".to_owned(),
        // The cause may be, for example, an invalid certificate.
        "UNKNOWN" if !failure.cause.is_empty() => line::to_line(&format!("{}: {}", failure.message, failure.cause), MAX_TOLD),
        _ => line::to_line(&failure.message, MAX_TOLD),
    }
}
