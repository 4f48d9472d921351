//! What a verdict of the sign-up rules does to a new user.

use crate::sign_up::rule::Verdict;
use crate::user::User;

impl Verdict {
    pub(crate) fn rejected(message: Option<&str>) -> Self {
        Self::Reject { message: message.unwrap_or("the sign-up was rejected").to_owned() }
    }

    /// Does to a new user what the rules say; the message of a rejection.
    pub fn apply(self, user: &mut User) -> Result<(), String> {
        match self {
            Self::Allow => Ok(()),
            Self::Restrict(restriction) => {
                user.restriction = Some(restriction);
                Ok(())
            }
            Self::Reject { message } => Err(message),
        }
    }
}
