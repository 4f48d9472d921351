//! Code shared by the operations that write a user. Checks the input against the project's
//! settings, hashes the password, and builds a change that can be applied repeatedly.

use api::product::Access;
use crypto::password::hash::Hash;
use errors::{Error, KnownError};
use flows::App;
use flows::accounts::{ExtraWrites, change_as, selected_team};
use flows::teams::no_member;
use model::password;
use model::profile_image::{NewImage, Owner, Upload};
use model::project::Project;
use model::team::Team;
use model::user::input::UserInput;
use model::user::ownership::Author;
use model::user::patch::{Refusal, UserPatch};
use model::user::totp::{self, Authenticator};
use model::user::{MAX_CHANNELS, User};
use store::team::membership;
use store::user::UserRow;
use store::{Label, profile_image};
use wire::change::Change;
use wire::id::TeamId;

/// The source of a password.
#[derive(Clone, Copy)]
enum Origin {
    /// The password was set by a server for a new user. The password may come from another service,
    /// and the server cannot ask the user for a different password.
    Imported,
    /// Chosen now.
    Chosen,
}

/// A checked change to a user that is ready to be applied.
pub(crate) struct UserChange {
    patch: UserPatch,
    /// `Ok` if the request may change or remove an existing second factor, and otherwise the error.
    just_proved: Result<(), KnownError>,
    /// The state that the user must have (`If-Match`). `None` if the user may have changed since
    /// the user was read.
    pub(crate) seen: Option<User>,
}

impl UserChange {
    /// Builds a change to `user`. Each attempt applies it to the newest state of the user.
    pub(crate) async fn new<L>(access: &Access<L>, user: &User, input: UserInput) -> Result<Self, Error> {
        Self::prepare(access, user, input, Origin::Chosen).await
    }

    /// Builds the first change to a user that a server creates.
    pub(crate) async fn imported<L>(access: &Access<L>, user: &User, input: UserInput) -> Result<Self, Error> {
        Self::prepare(access, user, input, Origin::Imported).await
    }

    async fn prepare<L>(access: &Access<L>, user: &User, input: UserInput, origin: Origin) -> Result<Self, Error> {
        let project = &access.project;
        check(project, &input)?;
        let just_proved = access.check_just_proved();
        match &input.totp_secret_base64 {
            Change::Clear => just_proved.clone()?,
            Change::Keep if !changes_way_in(&input) => {}
            _ => access.check_fresh()?,
        }
        let password = hash(&access.app, project, user, (&input, origin)).await?;
        let totp = match &input.totp_secret_base64 {
            Change::Keep => Change::Keep,
            Change::Clear => Change::Clear,
            Change::Set(secret) => {
                let (app, owner) = (&access.app, totp::owner(&project.id, user.id));
                Change::Set(Authenticator::seal(&app.sealer, &app.entropy, &owner, secret, app.clock.now())?.into())
            }
        };
        let url = |digest: &_| Owner::from(user.id).url(&access.app.settings.api_url, &project.id, digest);
        let image = NewImage::of(&input.profile_image_url, Upload::digest, url);
        let patch = UserPatch { input, password, totp, image, author: access.author() };
        Ok(Self { patch, just_proved, seen: None })
    }

    /// Changes the user and returns the additional writes.
    pub(crate) fn apply(&self, app: &App, project: &Project, user: &mut User) -> Result<ExtraWrites, Error> {
        if self.seen.as_ref().is_some_and(|seen| seen != user) {
            return Err(KnownError::PreconditionFailed.into());
        }
        // Setting a new authenticator app removes the existing app. The proof is checked only at
        // this point, because the user may have set up an app since the first read.
        if user.totp.is_some() && !self.patch.totp.is_keep() {
            self.just_proved.clone()?;
        }
        let before = user.clone();
        self.patch.apply(user, &app.entropy, app.clock.now()).map_err(|refused| match refused {
            Refusal::NoPrimaryEmail => KnownError::PrimaryEmailRequired,
            Refusal::TooManyChannels => KnownError::TooManyContactChannels { max: MAX_CHANNELS },
        })?;
        if self.patch.input.oauth_providers.is_some() {
            for account in &mut user.provider_accounts {
                let provider = project.config.oauth_provider(&account.provider_id);
                account.issuer = provider.and_then(|provider| project.config.issuer_of_accounts(provider));
            }
        }
        if self.patch.author == Author::User {
            user.keeps_way_to_sign_in(&before, &project.config).map_err(|_| KnownError::LastSignInMethod)?;
        }
        let (old_image, old_team) = (before.uploaded_image, before.selected_team_id);
        let old_image = old_image.filter(|old| user.uploaded_image.as_ref() != Some(old));
        let delete = old_image.map(|old| profile_image::delete(&project.id, user.id, &old));
        let upload = self.patch.image.upload.as_ref();
        let put = upload.map(|(digest, upload)| profile_image::put(&project.id, user.id, digest, upload)).transpose()?;
        let mut with = ExtraWrites(delete.into_iter().chain(put).collect());
        if user.selected_team_id != old_team {
            with.0.extend(old_team.map(|team| membership::deselect(&project.id, team, user.id)));
            user.selected_team_id.into_iter().for_each(|team| with.0.push(membership::select(&project.id, team, user.id)));
        }
        Ok(with)
    }

    /// The team that the user has selected after the change, if there is one.
    pub(crate) fn selected(&self, user: &User) -> Option<TeamId> {
        let mut selected = user.selected_team_id;
        self.patch.input.selected_team_id.clone().apply(&mut selected);
        selected
    }

    /// Writes the change to a user. Returns the user with the team that is selected after the
    /// change, if there is one.
    pub(crate) async fn make<L>(&self, access: &Access<L>, row: UserRow, missing: KnownError) -> Result<(UserRow, Option<Team>), Error> {
        let project = &access.project;
        let (id, selected) = (row.user.id, self.selected(&row.user));
        let team = async {
            match selected {
                Some(team) => Ok(access.app.store.team(&project.id, team).await?.map(|row| row.team)),
                None => Ok::<_, Error>(None),
            }
        };
        let change = change_as(access, row, missing, |user| self.apply(&access.app, project, user));
        match (tokio::join!(change, team), &self.patch.input.selected_team_id) {
            ((Ok(row), team), _) => {
                // The write has succeeded, so the request should not fail only because the parallel
                // read failed. The read is repeated once.
                let team = match team {
                    Ok(team) => team,
                    Err(_) => selected_team(&access.app.store, &project.id, &row.user).await?,
                };
                let team = team.filter(|team| row.user.selected_team_id == Some(team.id));
                Ok((row, team))
            }
            ((Err(Error::Store(store::Error::Conflict(conflict))), _), Change::Set(team)) if conflict.is_of(Label::Member) => {
                Err(no_member(*team, id).into())
            }
            ((Err(error), _), _) => Err(error),
        }
    }
}

/// Whether the input changes how the user signs in, apart from the password and the authenticator
/// app. Only a server can change the password with such an input.
fn changes_way_in(input: &UserInput) -> bool {
    !input.primary_email.is_keep() || input.passkey_auth_enabled.is_some() || input.otp_auth_enabled.is_some()
}

/// Checks that the project permits the password and the sign-in by email in the input, and that the
/// project has the input's OAuth providers.
fn check(project: &Project, input: &UserInput) -> Result<(), KnownError> {
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
    Ok(())
}

async fn hash(app: &App, project: &Project, user: &User, (input, origin): (&UserInput, Origin)) -> Result<Change<Hash>, Error> {
    Ok(match (&input.password, &input.password_hash) {
        (Change::Set(password), _) => {
            let new_address = match &input.primary_email {
                Change::Set(email) => Some(&**email),
                Change::Keep | Change::Clear => None,
            };
            match origin {
                Origin::Imported => password::check_imported(password)?,
                Origin::Chosen => password::check(password, project.password_rules(), user.addresses().chain(new_address))?,
            }
            Change::Set(app.hasher.hash(&app.entropy, password.secret()).await)
        }
        (Change::Clear, _) => Change::Clear,
        (Change::Keep, Some(imported)) => {
            // The cost of the hash is recorded before the hash is stored. Every failed sign-in
            // takes as long as a password check at the highest recorded cost. The duration
            // therefore does not reveal which accounts have imported hashes.
            app.store.note_bcrypt_cost(project, &imported.0).await?;
            Change::Set(imported.0.clone())
        }
        (Change::Keep, None) => Change::Keep,
    })
}
