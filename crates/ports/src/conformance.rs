//! What every adapter of a port must do, as tests. An adapter's crate calls one macro a port, for instance:
//!
//! ```text
//! async fn fresh() -> (TempDir, Arc<dyn Runs>) { … }
//! ports::runs_conformance!(fresh);
//! ```
//!
//! The first part of what the fixture returns is kept alive for as long as the case runs. Each case works in a scope of its own.
#![expect(clippy::unwrap_used, reason = "this is test code: a broken promise panics")]

pub mod objects;
pub mod registry;
pub mod runs;
mod sample;

/// Makes each named case of a suite a test; used by the macros of the suites.
#[doc(hidden)]
#[macro_export]
macro_rules! conformance_cases {
    ($fresh:path, $suite:ident: $($case:ident),+ $(,)?) => {
        $(
            #[tokio::test]
            async fn $case() {
                let (_keep, adapter) = $fresh().await;
                $crate::conformance::$suite::$case(&*adapter).await;
            }
        )+
    };
}

/// Polls all futures until each is done; the results in their order.
async fn together<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut futures: Vec<_> = futures.into_iter().map(Box::pin).collect();
    let mut results: Vec<Option<F::Output>> = futures.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        for (future, result) in futures.iter_mut().zip(&mut results) {
            if result.is_none()
                && let std::task::Poll::Ready(value) = future.as_mut().poll(context)
            {
                *result = Some(value);
            }
        }
        if results.iter().all(Option::is_some) { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    results.into_iter().flatten().collect()
}
