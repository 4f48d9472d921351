//! Code without colors, with which the highlighters are compared.

fn main() {
    highlight::measure(|_, code| highlight::escape::markup(code));
}
