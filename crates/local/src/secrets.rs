//! Secrets from a file with mode 0600 or the environment.
