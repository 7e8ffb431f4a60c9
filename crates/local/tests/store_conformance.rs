//! The SQLite store keeps every promise of the ports it implements.
#![expect(clippy::unwrap_used, reason = "fixtures are test code too")]

use local::store::{Durability, Mode, Store};
use tempfile::TempDir;

fn store() -> (TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_with(&folder.path().join("store.sqlite"), Mode::Own, Durability::Normal).unwrap();
    (folder, store)
}

mod runs {
    use std::{future::Ready, sync::Arc};

    use ports::Runs;

    fn fresh() -> Ready<(impl Sized, Arc<dyn Runs>)> {
        let (folder, store) = super::store();
        std::future::ready((folder, Arc::new(store)))
    }

    ports::runs_conformance!(fresh);
}

mod registry {
    use std::{future::Ready, sync::Arc};

    use ports::conformance::registry::RegistryWithOutbox;

    fn fresh() -> Ready<(impl Sized, Arc<dyn RegistryWithOutbox>)> {
        let (folder, store) = super::store();
        std::future::ready((folder, Arc::new(store)))
    }

    ports::registry_conformance!(fresh);
}
