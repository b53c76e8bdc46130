"""Tables of two engines are compared row by row, in any order."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from benchmarks.rehearsal import Rehearsal
from benchmarks.spark_counts import compare_step


def write(folder, **columns):
    folder.mkdir(parents=True)
    pq.write_table(pa.table(columns), folder / "a.parquet")


@pytest.mark.parametrize(
    ("entities", "counts", "only"),
    [
        ([3, 1, 1], [30, 10, 10], (0, 0)),  # another order
        ([3, 1], [30, 10], (1, 0)),  # one of two equal rows is missing
        ([3, 1, 1], [30, 10, 11], (1, 1)),
    ],
)
def test_rows_that_only_one_engine_wrote(tmp_path, entities, counts, only):
    write(tmp_path / "duckdb" / "word_totals", entity=[1, 1, 3], total=[10, 10, 30])
    write(tmp_path / "spark" / "word_totals", total=counts, entity=entities)  # columns in another order too
    write(tmp_path / "duckdb" / "steps" / "pages", page=[1])
    found = compare_step(Rehearsal(tmp_path, ""), "100MB")
    assert found == {"word_totals": {"rows": 3, "only_duckdb": only[0], "only_spark": only[1]}}


def test_a_table_that_is_missing_is_an_error(tmp_path):
    write(tmp_path / "duckdb" / "words", word=[1])
    (tmp_path / "spark").mkdir()
    with pytest.raises(Exception, match="No files found"):
        compare_step(Rehearsal(tmp_path, ""), "100MB")
