//! What no area owns: the greeting, what SDKs ask of any installation, and the other name of the version.

mod latest;
mod small;
