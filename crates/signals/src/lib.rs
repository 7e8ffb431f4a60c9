//! Quality signals of artifacts: profile, checks, comparison, verdict.
