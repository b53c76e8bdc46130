"""Annotations are checked against the text, repaired or reported."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pboh.evaluation.datasets.core import NEAR, Annotation, Problem, build_document, locate


class TestRepair:
    def test_nearest_occurrence_wins(self) -> None:
        assert locate("ab ab ab", Annotation(4, 6, "ab")) == (3, 5)

    def test_too_far_is_lost(self) -> None:
        far = " " * (NEAR + 1) + "Bern"
        assert locate(far, Annotation(0, 4, "Bern")) is None
        assert locate(far[1:], Annotation(0, 4, "Bern")) == (NEAR, NEAR + 4)

    def test_drift_carries_on(self) -> None:
        # Each mention lies ten characters further behind its offset than the one before it.
        text = "".join("x" * 10 + f"Bern{i} " for i in range(6))
        starts = [i * 16 + 10 for i in range(6)]
        written = [start - (i + 1) * 10 for i, start in enumerate(starts)]
        annotations = [Annotation(start, start + 5, f"Bern{i}") for i, start in enumerate(written)]
        problems: list[Problem] = []
        document = build_document("d", text, annotations, problems, "d")
        assert [m.start for m in document.mentions] == starts
        assert {problem.kind for problem in problems} == {"repaired"}

    def test_duplicates_merge_and_nil_gives_way(self) -> None:
        problems: list[Problem] = []
        spans = [
            Annotation(0, 4, "Bern"),
            Annotation(0, 4, "Bern", ("Bern",)),
            Annotation(0, 4, "Bern", ("Bern",)),
        ]
        document = build_document("d", "Bern", spans, problems, "d")
        assert [m.golds for m in document.mentions] == [("Bern",)]
        assert [problem.kind for problem in problems] == ["merged", "merged"]

    @given(st.text(max_size=40), st.integers(-5, 50), st.integers(-5, 50), st.text(max_size=5) | st.none())
    def test_never_a_span_outside_the_text(
        self, text: str, start: int, end: int, surface: str | None
    ) -> None:
        problems: list[Problem] = []
        document = build_document("d", text, [Annotation(start, end, surface, ("T",))], problems, "d")
        assert len(document.mentions) + sum(p.kind == "lost" for p in problems) == 1
        assert all(0 <= m.start < m.end <= len(text) and m.text for m in document.mentions)
