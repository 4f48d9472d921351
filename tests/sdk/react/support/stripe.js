// Replaces Stripe's script, which the SDK loads even without payments.
