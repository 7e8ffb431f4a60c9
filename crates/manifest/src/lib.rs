//! Manifests: YAML and JSON text to units and tiers, with every problem at its place.
