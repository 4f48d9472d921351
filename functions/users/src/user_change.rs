//! What every operation that writes a user does with its input: checks it against the project, hashes, and makes a change that can be
//! applied to the user as often as it takes.

use shared::App;
use shared::crypto::password::Hash;
use shared::http::change::Change;
use shared::model::id::UserId;
use shared::model::mfa::Totp;
use shared::model::profile_image::{ProfileImage, Upload};
use shared::model::project::Project;
use shared::model::user::{MAX_CHANNELS, User};
use shared::model::user_input::UserInput;
use shared::model::user_patch::{Refused, UserPatch};
use shared::product_api::access::Level;
use shared::product_api::accounts::With;
use shared::product_api::{Access, Error, KnownError};
use shared::store::images;

/// A change of a user that is checked and ready to be applied.
pub(crate) struct UserChange {
    patch: UserPatch,
    upload: Option<Upload>,
}

impl UserChange {
    pub(crate) async fn new<L>(app: &App, access: &Access<L>, id: UserId, input: UserInput) -> Result<Self, Error> {
        let project = &access.project;
        check(project, id, &input)?;
        let password = hash(app, project, &input).await?;
        let totp = match &input.totp_secret_base64 {
            Change::Keep => Change::Keep,
            Change::Clear => Change::Clear,
            Change::Set(secret) => Change::Set(Totp::seal(&app.sealer, &app.entropy, &project.id, id, secret)?),
        };
        let (mut image, mut upload) = (Change::Keep, None);
        match &input.profile_image_url {
            Change::Keep => {}
            Change::Clear => image = Change::Clear,
            Change::Set(ProfileImage::Url(url)) => image = Change::Set((url.clone(), None)),
            Change::Set(ProfileImage::Upload(new)) => {
                image = Change::Set((new.url(&app.settings.api_url, &project.id, id), Some(new.digest())));
                upload = Some(new.clone());
            }
        }
        let first_email_signs_in = access.level >= Level::Server;
        Ok(Self { patch: UserPatch { input, password, totp, image, first_email_signs_in }, upload })
    }

    /// Changes the user, and says what else is written with it.
    pub(crate) fn apply(&self, app: &App, project: &Project, user: &mut User) -> Result<With, Error> {
        let old_image = user.uploaded_image.clone();
        self.patch.apply(user, &app.entropy, app.clock.now()).map_err(|refused| match refused {
            Refused::NoPrimaryEmail => KnownError::PrimaryEmailRequired,
            Refused::TooManyChannels => KnownError::TooManyContactChannels { max: MAX_CHANNELS },
        })?;
        let old_image = old_image.filter(|old| user.uploaded_image.as_ref() != Some(old));
        let delete = old_image.map(|old| images::delete(&project.id, user.id, &old));
        let put = self.upload.as_ref().map(|upload| images::put(&project.id, user.id, upload)).transpose()?;
        Ok(With(delete.into_iter().chain(put).collect()))
    }
}

/// What the project must allow, or have.
fn check(project: &Project, id: UserId, input: &UserInput) -> Result<(), KnownError> {
    let sets_password = matches!(input.password, Change::Set(_)) || input.password_hash.is_some();
    if sets_password && !project.config.credential_enabled {
        return Err(KnownError::PasswordAuthenticationNotEnabled);
    }
    if input.otp_auth_enabled == Some(true) && !project.config.magic_link_enabled {
        return Err(KnownError::MagicLinkNotEnabled);
    }
    let has_provider = |id: &str| project.config.oauth_provider(id).is_some();
    if !input.oauth_providers.iter().flatten().all(|account| has_provider(&account.id)) {
        return Err(KnownError::OauthProviderNotFoundOrNotEnabled);
    }
    match input.selected_team_id {
        // There are no teams, so nobody is a member of one.
        Change::Set(team) => Err(KnownError::TeamMembershipNotFound { team_id: team.to_string(), user_id: id.to_string() }),
        Change::Keep | Change::Clear => Ok(()),
    }
}

async fn hash(app: &App, project: &Project, input: &UserInput) -> Result<Change<Hash>, Error> {
    Ok(match (&input.password, &input.password_hash) {
        (Change::Set(password), _) => {
            password.check(project.config.password_min_length)?;
            Change::Set(app.hasher.hash(&app.entropy, password.secret()).await)
        }
        (Change::Clear, _) => Change::Clear,
        (Change::Keep, Some(imported)) => Change::Set(imported.0.clone()),
        (Change::Keep, None) => Change::Keep,
    })
}
