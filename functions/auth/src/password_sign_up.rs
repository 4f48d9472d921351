//! `POST /api/v1/auth/password/sign-up`: creates an account with a password, or turns the caller's
//! anonymous user into an account with a password.

use api::http::TableAction::{BatchGetItem, DeleteItem, GetItem, PutItem, UpdateItem};
use api::http::{Admission, Json, Need, Route};
use api::product::{Access, Client, Input};
use axum::extract::State;
use crypto::password::Password;
use errors::{Error, ErrorCode, KnownError, NEW_PASSWORD_ERRORS};
use flows::accounts::admit;
use flows::bot_challenge::Check;
use flows::email::code::CodeEmail;
use flows::email::gate::{self, Address, CountedRecipient};
use flows::limits::like_sent_code;
use flows::{App, guarded_body};
use model::bot_challenge::GuardedOperation;
use model::email::Email;
use model::limit::Limit;
use model::password;
use model::project::redirect::RedirectUrl;
use model::session::Amr;
use model::sign_up::rule::AuthMethod;
use store::Label;

use crate::sign_in::new_account::{account_writes, new_user};
use crate::sign_in::tokens::{NewSession, SignInTokens};

pub const ROUTE: Route = Route::post("auth-password-sign-up", "/api/v1/auth/password/sign-up")
    .summary("Creates an account that signs in with a password")
    .limit(Limit::SignUp)
    .admits(Admission::Owing)
    .table(&[BatchGetItem, DeleteItem, GetItem, PutItem, UpdateItem])
    .errors(NEW_PASSWORD_ERRORS)
    .errors(&[
        ErrorCode::PasswordAuthenticationNotEnabled,
        ErrorCode::RedirectUrlNotWhitelisted,
        ErrorCode::SignUpNotEnabled,
        ErrorCode::BotChallengeRequired,
        ErrorCode::BotChallengeFailed,
        ErrorCode::SignUpRejected,
        ErrorCode::UserEmailAlreadyExists,
    ])
    .needs(&[Need::Hashing]);

guarded_body! {
    pub struct SignUp {
        email: Email,
        /// The password has 8 to 128 code points after NFC normalization. A project can require
        /// more than 8 code points. The operation rejects common passwords, plain sequences, the
        /// email address or its local part, and the project's name with
        /// `PASSWORD_REQUIREMENTS_NOT_MET`.
        password: Password,
        /// The URL to which the link in the verification email leads. The parameter `code` is added
        /// to the query of this URL. If the URL is omitted, no email is sent.
        verification_callback_url: Option<RedirectUrl>,
    }
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { body, .. }: Input<SignUp>,
) -> Result<Json<SignInTokens>, Error> {
    let config = &access.project.config;
    if !config.credential_enabled {
        return Err(KnownError::PasswordAuthenticationNotEnabled.into());
    }
    if let Some(url) = &body.verification_callback_url {
        access.redirects().check(url)?;
    }
    if !config.sign_up_enabled {
        return Err(KnownError::SignUpNotEnabled.into());
    }
    password::check(&body.password, access.project.password_rules(), [&body.email])?;
    let admitted = Check::new(&access, GuardedOperation::SignUp).admit(body.presented()).await?;
    let now = app.clock.now();
    let (mut user, version) = new_user(&access, now);
    user.add_primary_email(&app.entropy, body.email.clone(), false);
    admit(&app, &access.project, &mut user, AuthMethod::Password, &access.place).await?;
    let counted = async {
        match &body.verification_callback_url {
            Some(_) => counted(&access, &body.email).await.map(Some),
            None => Ok(None),
        }
    };
    let (hash, counted) = tokio::join!(app.hasher.hash(&app.entropy, body.password.secret()), counted);
    let counted = counted?;
    user.password = Some(hash);
    let mut writes = account_writes(&access, &mut user, version)?;
    let session = NewSession::start(&app, &access.project, &user, &access.place, vec![Amr::Pwd]);
    writes.extend(session.writes(&access.project)?);
    if let (Some(callback), Some(counted), Some(channel)) = (&body.verification_callback_url, &counted, user.primary()) {
        let email = CodeEmail { app: &app, project: &access.project.id, callback, now };
        writes.extend(email.verification(counted.counts(), &user, channel)?);
    }
    let done = admitted.counted_with(app.store.transact(writes)).await;
    if let (Err(store::Error::Conflict(_)), Some(counted)) = (&done, counted) {
        counted.take_back().await;
    }
    match done {
        Ok(()) => {
            if version.is_some() {
                app.store.name_personal_team(&access.project.id, &user).await;
            }
            Ok(Json(session.signed_in(&app, &access.project, &user).await?))
        }
        Err(store::Error::Conflict(conflict)) if conflict.is_of(Label::Claim(0)) => {
            Err(KnownError::UserEmailAlreadyExists { email: body.email.to_string(), would_work_if_email_was_verified: false }.into())
        }
        Err(error) => Err(error.into()),
    }
}

/// Counts the verification email towards the limits of its recipient and of the caller's network.
/// Fails if a limit is reached.
async fn counted<'a>(access: &'a Access<Client>, to: &Email) -> Result<CountedRecipient<'a>, store::Error> {
    let (counted, like_sent) = tokio::join!(gate::count_before(access, to, Address::Unproved), like_sent_code(access));
    match (counted, like_sent) {
        (Ok(counted), Err(error)) => {
            counted.take_back().await;
            Err(error)
        }
        (counted, like_sent) => like_sent.and(counted),
    }
}
