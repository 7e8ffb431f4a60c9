//! The states language: parse, validate, step; pure.
