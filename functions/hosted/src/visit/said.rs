//! The texts of a page in the visitor's language, including explanations of errors.

use minijinja::{Value, context};

use crate::answer::Answer;
use crate::render::templates::filled;
use crate::visit::Visit;
use crate::visit::call::Reply;

impl Visit {
    /// The text at this path in the catalog.
    pub(crate) fn text(&self, path: &str) -> String {
        self.found(path).unwrap_or_default()
    }

    /// The text at this path in the catalog, with its placeholders filled.
    pub(crate) fn fill(&self, path: &str, values: &[(&str, &str)]) -> String {
        filled(&self.text(path), |name| values.iter().find(|(known, _)| *known == name).map(|(_, value)| *value))
    }

    fn found(&self, path: &str) -> Option<String> {
        let found = path.split('.').try_fold(self.language.texts(), |value, name| value.get_attr(name).ok())?;
        found.as_str().map(str::to_owned)
    }

    /// The explanation of why an operation refused.
    pub(crate) fn error_text(&self, reply: &Reply) -> String {
        let code = reply.error().unwrap_or_default();
        let min = self.project.config.password_min_length.to_string();
        match code {
            "SCHEMA_ERROR" if has_problem(reply, "email") || has_problem(reply, "value") => self.text("errors.INVALID_EMAIL"),
            "SCHEMA_ERROR" if has_problem(reply, "code") => self.text("errors.VERIFICATION_CODE_NOT_FOUND"),
            "SCHEMA_ERROR" if has_problem(reply, "profile_image_url") => self.text("errors.INVALID_PICTURE"),
            "SCHEMA_ERROR" if ["name", "display_name", "description"].iter().any(|field| has_problem(reply, field)) => {
                self.text("errors.INVALID_NAME")
            }
            _ => {
                let known = self.found(&format!("errors.{code}")).unwrap_or_else(|| self.text("errors.OTHER"));
                known.replace("{min}", &min)
            }
        }
    }

    /// Whether an operation rejected the code, for example because the link was cut off. The
    /// visitor cannot correct a rejected code in the form.
    pub(crate) fn is_about_code(reply: &Reply) -> bool {
        let code = reply.error().unwrap_or_default();
        code.starts_with("VERIFICATION_CODE_") || (code == "SCHEMA_ERROR" && has_problem(reply, "code"))
    }

    /// The problems of a form's fields. A template shows them where the visitor can correct the
    /// fields.
    pub(crate) fn field_problems(&self, reply: Option<&Reply>) -> Value {
        let Some(reply) = reply else { return context! { email => "", password => "" } };
        let text = self.error_text(reply);
        let code = reply.error().unwrap_or_default();
        let of = |is_its: bool| if is_its { text.clone() } else { String::new() };
        context! {
            email => of(code == "USER_EMAIL_ALREADY_EXISTS" || has_problem(reply, "email")),
            password => of(code.starts_with("PASSWORD_") && code != "PASSWORD_AUTHENTICATION_NOT_ENABLED" || has_problem(reply, "password")),
        }
    }

    /// A page that explains why an operation failed.
    pub(crate) fn refusal(&self, reply: &Reply) -> Answer {
        let values = context! {
            title => self.text("problem.title"), texts => [self.error_text(reply)], shown_code => (), problem => (), hidden => (), buttons => (),
            links => [context! { href => self.place.path("sign-in", &self.way_back()), text => self.text("common.start_again") }], action => "",
        };
        self.document("notice", values).status(reply.status).answer()
    }

    /// The reason why an operation failed, unless a field shows the reason.
    pub(crate) fn general_problem(&self, reply: Option<&Reply>) -> Option<String> {
        let problems = self.field_problems(reply);
        let is_said =
            |field: &&str| problems.get_attr(field).ok().and_then(|text| text.as_str().map(str::len)).is_some_and(|length| length > 0);
        let is_of_field = ["email", "password"].iter().any(is_said);
        reply.filter(|_| !is_of_field).map(|reply| self.error_text(reply))
    }
}

/// Whether an operation found a problem in a field of the body.
fn has_problem(reply: &Reply, field: &str) -> bool {
    let problems = reply.body["details"]["problems"].as_array().into_iter().flatten();
    let path = format!("body.{field}");
    problems.filter_map(|problem| problem["path"].as_str()).any(|found| found == path)
}
