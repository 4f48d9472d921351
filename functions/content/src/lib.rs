//! Interface A: the public content of a site.
