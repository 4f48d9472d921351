//! Errors about webhooks: endpoints and deliveries.

macro_rules! webhooks {
    ($next:ident! $($before:tt)*) => { $next! { $($before)*

        /// The webhook endpoint does not exist.
        #[error("the webhook endpoint does not exist")]
        #[hint("Check the id. To list the project's endpoints, call `GET /api/v1/internal/webhook-endpoints`.")]
        #[answer(NOT_FOUND, Sdks::None)]
        WebhookEndpointNotFound,

        /// The project has the maximum number of webhook endpoints.
        #[error("a project can have at most {limit} webhook endpoints: delete one first")]
        #[hint("Delete an endpoint that you no longer use, or send several types of events to the same endpoint.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        TooManyWebhookEndpoints { limit: usize },

        /// Events cannot be sent to this URL.
        #[error("the URL of the webhook endpoint is not allowed: {reason}")]
        #[hint("Use a public `https` URL; `details` says what is wrong with the given URL.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        WebhookUrlNotAllowed { reason: &'static str },

        /// The endpoint does not have this delivery; deliveries are deleted after 30 days.
        #[error("the delivery does not exist, or was deleted after 30 days")]
        #[hint("Check the id and the endpoint, or list the endpoint's deliveries.")]
        #[answer(NOT_FOUND, Sdks::None)]
        WebhookDeliveryNotFound,

    } };
}
