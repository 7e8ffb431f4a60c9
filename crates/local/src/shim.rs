//! The helper process that owns the children, and the client that talks to it.
