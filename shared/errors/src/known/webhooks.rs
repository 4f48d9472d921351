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
        #[hint("Delete one that you no longer use, or send several types of events to the same endpoint.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        TooManyWebhookEndpoints { limit: usize },

        /// Events cannot be sent to this URL.
        #[error("the URL of the webhook endpoint is not allowed: {reason}")]
        #[hint("Use a public `https` URL; `details` says what is wrong with this one.")]
        #[answer(BAD_REQUEST, Sdks::None)]
        WebhookUrlNotAllowed { reason: &'static str },

        /// The endpoint has no such delivery; deliveries are kept for 30 days.
        #[error("the delivery does not exist, or was deleted after 30 days")]
        #[hint("Check the id and the endpoint; list the deliveries of the endpoint.")]
        #[answer(NOT_FOUND, Sdks::None)]
        WebhookDeliveryNotFound,

    } };
}
