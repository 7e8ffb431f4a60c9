//! Objects in a folder, published atomically.
