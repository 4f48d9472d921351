//! Lambda of [`user_image_read`](users_functions::user_image_read).
use users_functions::user_image_read::{ROUTE, handle};

fn main() -> Result<(), lambda_http::Error> {
    api::http::run(ROUTE, handle)
}
