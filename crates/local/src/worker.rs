//! Carries out one attempt as a local process.
