"""Tables as plain rows, in the terminal and in Markdown."""

from pboh.evaluation.tables import Table


def test_markdown() -> None:
    table = Table("Title", ["Extension", "a|b"], [["one", "+1.00"], ["two", "-1.00"]], "note")
    table.strong.add((0, 1))
    assert table.markdown() == (
        "### Title\n\n| Extension | a&#124;b |\n| --- | ---: |\n"
        "| one | **+1.00** |\n| two | -1.00 |\n\nnote\n"
    )
