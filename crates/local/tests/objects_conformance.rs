//! Objects in a folder keep every promise of the port.
#![expect(clippy::unwrap_used, reason = "fixtures are test code too")]

use std::{future::Ready, sync::Arc};

use local::objects::FolderObjects;
use ports::Objects;

fn fresh() -> Ready<(impl Sized, Arc<dyn Objects>)> {
    let folder = tempfile::tempdir().unwrap();
    let objects = FolderObjects::open(&folder.path().join("objects")).unwrap();
    std::future::ready((folder, Arc::new(objects)))
}

ports::objects_conformance!(fresh);
