"""Tables as plain rows, in the terminal and in Markdown."""

from pboh.evaluation.datasets import Dataset
from pboh.evaluation.runner import evaluate
from pboh.evaluation.tables import (
    Table,
    ablation_table,
    dataset_table,
    graph_table,
    paper_tables,
    propagation_table,
    results_table,
    side_by_side_table,
)


def test_markdown() -> None:
    table = Table("Title", ["Extension", "a|b"], [["one", "+1.00"], ["two", "-1.00"]], "note")
    table.strong.add((0, 1))
    assert table.markdown() == (
        "### Title\n\n| Extension | a&#124;b |\n| --- | ---: |\n"
        "| one | **+1.00** |\n| two | -1.00 |\n\nnote\n"
    )


def test_tables(linker, small) -> None:
    evaluation = evaluate(linker, [small, Dataset("other", small.documents)], ["localmention", "pboh"])
    results = results_table(evaluation)
    assert [row[:4] for row in results.rows][1] == ["kore50-small", "PBoH", "3", "5"]
    assert results.rows[1][4:7] == ["50.00", "40.00", "44.44"]
    assert (1, 6) in results.strong
    (gerbil,) = paper_tables(evaluation)
    assert gerbil.header == ["System", "KORE50"]
    assert ["PBoH", "61.70 / 55.83"] in gerbil.rows
    assert gerbil.rows[-1][0] == "ours: PBoH"
    assert gerbil.ours == {11, 12}
    assert gerbil.strong == {(1, 1)}  # Babelfy has the best published figure
    ablation = ablation_table(evaluation)
    assert ablation.rows[1][0] == "PBoH" and ablation.rows[1][-1] == "87.51 / 86.39"
    assert ["AIDA/CoNLL-Test A", "paper", "22.18", "100.00", "445.56", "2.86"] in propagation_table(
        evaluation
    ).rows
    assert graph_table(evaluation).rows[0][:4] == ["kore50-small", "ours", "2.50", "3.50"]
    assert dataset_table(evaluation.datasets).rows[0][:7] == [
        "kore50-small",
        "jsonl",
        "3",
        "2",
        "5",
        "1",
        "50 / 144",
    ]
    both = side_by_side_table(evaluation, evaluation)
    assert both.rows[-1][:2] == ["average", "PBoH"] and both.rows[-1][4] == "+0.00"
