//! Lambda of [`team_image_read`](teams_functions::team_image_read).
use teams_functions::team_image_read::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
