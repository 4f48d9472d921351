//! Decides which user a provider account signs in. The decision depends only on the given facts.

use wire::id::UserId;

use crate::email::Email;
use crate::project::MergeStrategy;
use crate::sign_in::authorization::Purpose;

/// The facts that are known after a provider has identified an account.
#[derive(Debug, Clone)]
pub struct Situation<'a> {
    /// The purpose of the flow.
    pub purpose: Purpose,
    /// The user to whom the account is linked, or the anonymous user to upgrade; `None` in all
    /// other flows.
    pub flow_user: Option<UserId>,
    /// The user of the provider account, and whether the account may be used to sign in.
    pub account_owner: Option<(UserId, bool)>,
    /// The address that the provider reported, and whether the provider has verified it.
    pub email: Option<(&'a Email, bool)>,
    /// The user who signs in with that address, and whether the address has been proved in this
    /// project.
    pub email_owner: Option<(UserId, bool)>,
    /// The project's strategy if another user signs in with the address.
    pub strategy: MergeStrategy,
    /// Whether users may sign up with client access.
    pub sign_up_enabled: bool,
}

/// The decision about a provider account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// The account belongs to this user, who is then signed in.
    SignIn(UserId),
    /// The account is added to this user as another way to sign in.
    Attach(UserId),
    /// This user signs in with the address, but nobody has proved the address in this project. The
    /// user's account is handed over to the person who has verified the address at the provider
    /// (see [`ownership`](crate::user::ownership)).
    TakeOver(UserId),
    /// A new user is created with the account.
    SignUp {
        /// Whether the user can also sign in with the address.
        email_signs_in: bool,
    },
    /// The anonymous user of the flow becomes an ordinary user with the account.
    Upgrade {
        /// The anonymous user.
        user: UserId,
        /// Whether the user can also sign in with the address.
        email_signs_in: bool,
    },
}

/// Why a provider account cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The provider account belongs to another user.
    OfAnother,
    /// The provider account belongs to a user, but must not be used to sign in.
    NotForSignIn,
    /// Another user signs in with the address of the provider account.
    EmailTaken {
        /// Whether the other user has not verified the address, and the strategy is
        /// [`MergeStrategy::LinkMethod`]. If so, published SDKs suggest verifying the address.
        would_work_if_verified: bool,
    },
    /// The project does not let users sign up with client access.
    SignUpNotEnabled,
}

impl Situation<'_> {
    /// Decides what to do with the provider account.
    pub fn decide(&self) -> Result<Decision, Refusal> {
        match (self.purpose, self.flow_user, self.account_owner) {
            // The user is already signed in, and this flow requests additional scopes.
            (Purpose::Link, Some(user), Some((owner, _))) if user == owner => Ok(Decision::SignIn(user)),
            (Purpose::Link, _, Some(_)) => Err(Refusal::OfAnother),
            (Purpose::Link, Some(user), None) => Ok(Decision::Attach(user)),
            // This case is unreachable, because linking an account requires a user.
            (Purpose::Link, None, None) => Err(Refusal::OfAnother),
            (Purpose::Authenticate, _, Some((owner, true))) => Ok(Decision::SignIn(owner)),
            (Purpose::Authenticate, _, Some((_, false))) => Err(Refusal::NotForSignIn),
            (Purpose::Authenticate, _, None) => self.new_account(),
        }
    }

    fn new_account(&self) -> Result<Decision, Refusal> {
        let owner = self.email_owner.filter(|(owner, _)| Some(*owner) != self.flow_user);
        let mut email_signs_in = self.email.is_some();
        if let (Some((_, verified_there)), Some((owner, verified_here))) = (self.email, owner) {
            match (self.strategy, verified_there, verified_here) {
                (MergeStrategy::LinkMethod, true, true) => return Ok(Decision::Attach(owner)),
                // An address belongs to the first person who verifies it.
                (MergeStrategy::LinkMethod, true, false) => return Ok(Decision::TakeOver(owner)),
                (MergeStrategy::LinkMethod, false, _) => return Err(Refusal::EmailTaken { would_work_if_verified: !verified_here }),
                (MergeStrategy::RaiseError, ..) => return Err(Refusal::EmailTaken { would_work_if_verified: false }),
                (MergeStrategy::AllowDuplicates, ..) => email_signs_in = false,
            }
        }
        if !self.sign_up_enabled {
            return Err(Refusal::SignUpNotEnabled);
        }
        Ok(match self.flow_user {
            Some(user) => Decision::Upgrade { user, email_signs_in },
            None => Decision::SignUp { email_signs_in },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::entropy::Entropy;

    struct World {
        ada: UserId,
        eve: UserId,
        email: Email,
    }

    fn world() -> World {
        let id = || UserId::from(Entropy::system().uuid());
        World { ada: id(), eve: id(), email: Email::parse("ada@example.com").expect("valid") }
    }

    impl World {
        fn situation(&self, purpose: Purpose) -> Situation<'_> {
            Situation {
                purpose,
                flow_user: None,
                account_owner: None,
                email: Some((&self.email, true)),
                email_owner: None,
                strategy: MergeStrategy::LinkMethod,
                sign_up_enabled: true,
            }
        }
    }

    #[test]
    fn an_account_signs_in_its_owner() {
        let world = world();
        for flow_user in [None, Some(world.eve)] {
            let known = Situation {
                account_owner: Some((world.ada, true)),
                flow_user,
                sign_up_enabled: false,
                ..world.situation(Purpose::Authenticate)
            };
            assert_eq!(known.decide(), Ok(Decision::SignIn(world.ada)));
        }
    }

    #[test]
    fn an_account_that_is_not_for_signing_in_signs_nobody_in() {
        let world = world();
        let known = Situation { account_owner: Some((world.ada, false)), ..world.situation(Purpose::Authenticate) };
        assert_eq!(known.decide(), Err(Refusal::NotForSignIn));
        let link = Situation { flow_user: Some(world.ada), purpose: Purpose::Link, ..known };
        assert_eq!(link.decide(), Ok(Decision::SignIn(world.ada)));
        assert_eq!(Situation { flow_user: Some(world.eve), ..link }.decide(), Err(Refusal::OfAnother));
    }

    #[test]
    fn an_account_joins_the_owner_of_its_address_if_the_provider_verified_it() {
        let world = world();
        for (here, there, wanted) in [
            (true, true, Ok(Decision::Attach(world.ada))),
            (false, true, Ok(Decision::TakeOver(world.ada))),
            (true, false, Err(Refusal::EmailTaken { would_work_if_verified: false })),
            (false, false, Err(Refusal::EmailTaken { would_work_if_verified: true })),
        ] {
            let email = Some((&world.email, there));
            let taken = Situation { email, email_owner: Some((world.ada, here)), ..world.situation(Purpose::Authenticate) };
            assert_eq!(taken.decide(), wanted, "here {here}, there {there}");
        }
    }

    #[test]
    fn the_merge_strategy_decides_on_a_taken_address() {
        let world = world();
        let taken = Situation { email_owner: Some((world.ada, true)), ..world.situation(Purpose::Authenticate) };
        let raise = Situation { strategy: MergeStrategy::RaiseError, ..taken.clone() };
        assert_eq!(raise.decide(), Err(Refusal::EmailTaken { would_work_if_verified: false }));
        let duplicate = Situation { strategy: MergeStrategy::AllowDuplicates, ..taken.clone() };
        assert_eq!(duplicate.decide(), Ok(Decision::SignUp { email_signs_in: false }));
        // The strategy also applies if nobody has proved the address in this project.
        for (strategy, wanted) in [
            (MergeStrategy::LinkMethod, Ok(Decision::TakeOver(world.ada))),
            (MergeStrategy::RaiseError, Err(Refusal::EmailTaken { would_work_if_verified: false })),
            (MergeStrategy::AllowDuplicates, Ok(Decision::SignUp { email_signs_in: false })),
        ] {
            let unproved = Situation { email_owner: Some((world.ada, false)), strategy, ..taken.clone() };
            assert_eq!(unproved.decide(), wanted, "{strategy:?}");
        }
    }

    #[test]
    fn a_new_user_signs_up_if_allowed() {
        let world = world();
        let new = world.situation(Purpose::Authenticate);
        assert_eq!(new.decide(), Ok(Decision::SignUp { email_signs_in: true }));
        let without_email = Situation { email: None, ..new.clone() };
        assert_eq!(without_email.decide(), Ok(Decision::SignUp { email_signs_in: false }));
        let upgraded = Situation { flow_user: Some(world.eve), ..new.clone() };
        assert_eq!(upgraded.decide(), Ok(Decision::Upgrade { user: world.eve, email_signs_in: true }));
        for closed in [new, upgraded] {
            assert_eq!(Situation { sign_up_enabled: false, ..closed }.decide(), Err(Refusal::SignUpNotEnabled));
        }
    }

    #[test]
    fn an_account_is_linked_only_to_the_flows_user() {
        let world = world();
        let link = Situation { flow_user: Some(world.ada), sign_up_enabled: false, ..world.situation(Purpose::Link) };
        assert_eq!(link.decide(), Ok(Decision::Attach(world.ada)));
        // When a signed-in user links an account, the account's address is irrelevant.
        let taken = Situation { email_owner: Some((world.eve, false)), ..link.clone() };
        assert_eq!(taken.decide(), Ok(Decision::Attach(world.ada)));
        assert_eq!(Situation { account_owner: Some((world.ada, true)), ..link.clone() }.decide(), Ok(Decision::SignIn(world.ada)));
        assert_eq!(Situation { account_owner: Some((world.eve, true)), ..link.clone() }.decide(), Err(Refusal::OfAnother));
        assert_eq!(Situation { flow_user: None, ..link }.decide(), Err(Refusal::OfAnother));
    }
}
