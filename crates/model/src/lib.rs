//! Ids, names, states, records and contracts: plain data and its rules.
