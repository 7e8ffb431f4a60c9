//! Ids and times as columns.

use model::{RunId, Timestamp};
use rusqlite::{
    Row, ToSql,
    types::{FromSql, ToSqlOutput, ValueRef},
};

use super::fault;
use ports::StoreError;

/// The bytes of a run's id, in the order of creation.
pub(super) fn of_run(run: RunId) -> [u8; 16] {
    run.bits().to_be_bytes()
}

/// The id in column `column`.
pub(super) fn run_at(row: &Row<'_>, column: usize) -> rusqlite::Result<RunId> {
    row.get(column).map(|bytes| RunId::from_bits(u128::from_be_bytes(bytes)))
}

/// A count or number in column `column`; we write none that is negative.
pub(super) fn number_at<N: TryFrom<i64>>(row: &Row<'_>, column: usize) -> rusqlite::Result<N> {
    let value: i64 = row.get(column)?;
    N::try_from(value).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, value))
}

/// The JSON value in column `column`.
pub(super) fn json_at<T: serde::de::DeserializeOwned>(row: &Row<'_>, column: usize) -> Result<T, StoreError> {
    let text = row.get_ref(column).and_then(|value| Ok(value.as_bytes()?)).map_err(fault::of)?;
    serde_json::from_slice(text).map_err(fault::unreadable)
}

/// The column's value.
pub(super) fn at<T: FromSql>(row: &Row<'_>, column: usize) -> Result<T, StoreError> {
    row.get(column).map_err(fault::of)
}

/// A record as JSON text.
pub(super) struct Json(Vec<u8>);

impl ToSql for Json {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Text(&self.0)))
    }
}

/// The JSON text of a record.
pub(super) fn json<T: serde::Serialize>(record: &T) -> Json {
    // Most records fit: no growing.
    let mut text = Vec::with_capacity(1_024);
    serde_json::to_writer(&mut text, record).expect("a record is JSON: its maps have text keys");
    Json(text)
}

/// A time as nanoseconds since 1970, exact in the years 1678 to 2261 and the nearest end outside.
pub(super) fn of_time(time: Timestamp) -> i64 {
    i64::try_from(time.as_nanosecond()).unwrap_or(if time < Timestamp::UNIX_EPOCH { i64::MIN } else { i64::MAX })
}

/// The time of nanoseconds since 1970.
pub(super) fn time_of(nanoseconds: i64) -> Timestamp {
    Timestamp::from_nanosecond(nanoseconds.into()).expect("64 bits of nanoseconds stay within the calendar")
}
