//! What every [`Objects`] must do.

use model::ObjectKey;

use super::{sample::scope, together};
use crate::{ObjectError, Objects, Source};

/// Makes every case of the suite a test: `ports::objects_conformance!(fresh)`.
#[macro_export]
macro_rules! objects_conformance {
    ($fresh:path) => {
        $crate::conformance_cases!($fresh, objects:
            gives_back_what_was_put,
            leaves_an_object_as_it_is,
            answers_missing_objects,
            reads_parts,
            takes_a_file,
            lists_by_key,
            shows_no_half_object,
        );
    };
}

fn key(case: &str, below: &str) -> ObjectKey {
    format!("{}/{below}", scope(case)).parse().unwrap()
}

fn bytes(text: &str) -> Source {
    Source::Bytes(text.as_bytes().to_vec())
}

/// Any bytes, none at all included, under any name that is a key.
pub async fn gives_back_what_was_put(objects: &dyn Objects) {
    let everything: Vec<u8> = (0..=255).collect::<Vec<u8>>().repeat(5_000);
    for (name, content) in
        [("empty", vec![]), ("a/b/c/deep", everything), ("by day/é 🦀.csv", b"1\r\n".to_vec()), (".hidden", vec![0])]
    {
        let key = key("give-back", name);
        objects.put(&key, Source::Bytes(content.clone())).await.unwrap();
        assert!(objects.get(&key).await.unwrap() == content, "{name} came back different");
    }
}

/// The first one stays, and the second is told so.
pub async fn leaves_an_object_as_it_is(objects: &dyn Objects) {
    let key = key("exists", "a");
    objects.put(&key, bytes("first")).await.unwrap();
    for content in ["second", "first"] {
        let again = objects.put(&key, bytes(content)).await;
        assert!(matches!(&again, Err(ObjectError::Exists(found)) if *found == key), "got {again:?}");
    }
    assert_eq!(objects.get(&key).await.unwrap(), b"first");
}

/// Of a folder, too, there is nothing to read.
pub async fn answers_missing_objects(objects: &dyn Objects) {
    objects.put(&key("missing", "folder/a"), bytes("a")).await.unwrap();
    for absent in ["b", "folder", "folder/a/b", "other/a"] {
        let key = key("missing", absent);
        let (whole, part) = (objects.get(&key).await, objects.range(&key, 0, 1).await);
        assert!(matches!(&whole, Err(ObjectError::NotFound(found)) if *found == key), "{absent}: got {whole:?}");
        assert!(matches!(&part, Err(ObjectError::NotFound(found)) if *found == key), "{absent}: got {part:?}");
    }
}

/// Fewer bytes at the end, none behind it.
pub async fn reads_parts(objects: &dyn Objects) {
    let key = key("parts", "a");
    objects.put(&key, bytes("0123456789")).await.unwrap();
    for (offset, length, part) in [(0, 3, "012"), (3, 4, "3456"), (8, 10, "89"), (10, 1, ""), (u64::MAX, 1, ""), (4, 0, "")] {
        assert_eq!(objects.range(&key, offset, length).await.unwrap(), part.as_bytes(), "{length} from {offset}");
    }
    assert_eq!(objects.range(&key, 1, usize::MAX).await.unwrap(), b"123456789");
}

/// A file becomes an object, whether it is moved or copied; refused, it stays what it was.
pub async fn takes_a_file(objects: &dyn Objects) {
    let folder = std::env::temp_dir().join(format!("conformance-{}-takes-a-file", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (file, key) = (folder.join("out.csv"), key("file", "out.csv"));
    std::fs::write(&file, "one").unwrap();
    objects.put(&key, Source::File(file.clone())).await.unwrap();
    assert_eq!(objects.get(&key).await.unwrap(), b"one");

    std::fs::write(&file, "two").unwrap();
    let again = objects.put(&key, Source::File(file.clone())).await;
    assert!(matches!(again, Err(ObjectError::Exists(_))), "got {again:?}");
    assert_eq!(std::fs::read(&file).unwrap(), b"two");
    assert_eq!(objects.get(&key).await.unwrap(), b"one");
    std::fs::remove_dir_all(&folder).unwrap();
}

/// In the order of the bytes of whole keys, page by page, and nothing from beside the folder.
pub async fn lists_by_key(objects: &dyn Objects) {
    let names = ["list/a", "list/a-b/c", "list/a/b", "list/a.txt", "list/b/z", "list/b/y/x", "lists/a", "list-a"];
    let folders = ["list/a"];
    let mut expected = Vec::new();
    for name in names.into_iter().filter(|name| !folders.contains(name)) {
        objects.put(&key("list", name), bytes("x")).await.unwrap();
        if name.starts_with("list/") {
            expected.push(key("list", name));
        }
    }
    expected.sort();
    let below = key("list", "list");
    assert_eq!(objects.list(&below, None, 100).await.unwrap(), expected);
    for limit in 1..=expected.len() {
        let mut found: Vec<ObjectKey> = Vec::new();
        loop {
            let page = objects.list(&below, found.last(), limit).await.unwrap();
            assert!(page.len() <= limit);
            if page.is_empty() {
                break;
            }
            found.extend(page);
        }
        assert_eq!(found, expected, "in pages of {limit}");
    }
    assert!(objects.list(&below, Some(&key("list", "lists/a")), 100).await.unwrap().is_empty());
    assert!(objects.list(&key("list", "nothing"), None, 100).await.unwrap().is_empty());
}

/// Twenty writers of one key and a reader: one wins, and whoever sees the object sees all of it.
pub async fn shows_no_half_object(objects: &dyn Objects) {
    let key = key("half", "big");
    let content = |writer: u8| vec![writer; 1 << 20];
    let write = async {
        let results = together((0..20).map(|writer| objects.put(&key, Source::Bytes(content(writer))))).await;
        let winners: Vec<u8> = (0_u8..).zip(&results).filter(|(_, result)| result.is_ok()).map(|(writer, _)| writer).collect();
        assert_eq!(winners.len(), 1, "winners: {winners:?}");
        let lost = results.iter().filter(|result| matches!(result, Err(ObjectError::Exists(_)))).count();
        assert_eq!(lost, 19, "everybody else is told that it exists");
        Some(winners[0])
    };
    let read = async {
        loop {
            match objects.get(&key).await {
                Ok(found) => {
                    assert!(found.len() == 1 << 20 && found.iter().all(|byte| *byte == found[0]), "half an object was seen");
                    return None;
                }
                Err(ObjectError::NotFound(_)) => {}
                Err(error) => panic!("got {error:?}"),
            }
        }
    };
    let futures: [std::pin::Pin<Box<dyn Future<Output = Option<u8>> + Send>>; 2] = [Box::pin(write), Box::pin(read)];
    let winner = together(futures).await.into_iter().flatten().next().unwrap();
    assert!(objects.get(&key).await.unwrap() == content(winner));
    assert_eq!(objects.list(&key_folder(), None, 10).await.unwrap(), [key], "no temporary is listed");
}

fn key_folder() -> ObjectKey {
    scope("half").to_string().parse().unwrap()
}
