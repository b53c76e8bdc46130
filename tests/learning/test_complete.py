"""Silver sentences of pages as complete gold, and raw text with a finder, on the small world."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pboh.evaluation.datasets.core import Dataset, GoldDocument, GoldMention
from pboh.learning.calibration import calibrate
from pboh.learning.complete import SilverPages
from pboh.linker import Linker, load

TEXT = "Müller scored a late goal when Bayern beat Dortmund. Then Bayern went home to rest, and so did we."


@pytest.fixture(scope="module")
def finding(finding_model) -> Linker:
    """A linker over the small world that has a finder."""
    return load(finding_model)


def page(*links, text=TEXT, title="Some match"):
    places = [(text.index(name), name, gold) for name, gold in links]
    mentions = (GoldMention(start, start + len(name), name, gold) for start, name, gold in places)
    return GoldDocument(title, text, tuple(sorted(mentions, key=lambda m: m.start)))


LINKS = (("Müller", "Gerd Müller"), ("Bayern", "FC Bayern Munich"), ("Dortmund", "Nobody's Borussia"))


def test_sentences_whose_names_are_all_linked_are_gold(finding):
    gold = SilverPages(finding).read(page(*LINKS))
    assert TEXT[:52] in [TEXT[a:b] for a, b in gold.stretches.tolist()]
    found = {TEXT[a:b]: meant for (a, b), meant in gold.names.items()}
    assert found["Müller"] == {finding.entity("Gerd Müller").index}
    assert found["Dortmund"] == set()  # linked to what the model does not know
    later = TEXT.rindex("Bayern"), TEXT.rindex("Bayern") + 6
    assert gold.names[later] == {finding.entity("FC Bayern Munich").index}
    assert gold.unsure == {later}


def test_a_sentence_with_an_unlinked_name_is_not(finding):
    gold = SilverPages(finding).read(page(*LINKS[:2]))
    assert TEXT[:52] not in [TEXT[a:b] for a, b in gold.stretches.tolist()]


def test_silver_sentences_can_be_read_alone(finding):
    gold = SilverPages(finding).read(page(*LINKS))
    alone = gold.alone(8)
    assert [part.text for part in alone] == [TEXT[a:b] for a, b in gold.stretches.tolist()]
    for part in alone:
        assert {part.text[a:b] for a, b in part.names} <= {"Müller", "Bayern", "Dortmund"}
        assert part.inside(*np.asarray(list(part.names)).reshape(-1, 2).T).all()
    assert sum(len(part.unsure) for part in alone) <= len(gold.unsure)
    assert len(gold.alone(1)) == 1


def test_names_are_found_with_or_without_concepts(finding):
    names, everything = finding.link(TEXT, threshold=0.05), finding.link(TEXT, mentions="all", threshold=0.05)
    assert {"Bayern", "Dortmund"} <= {m.text for m in names}
    assert {m.text for m in names} <= {m.text for m in everything}
    for mention in names:
        assert mention.explain().score == pytest.approx(mention.score)
        assert sum(c.probability for c in mention.candidates) + mention.nil == pytest.approx(1)
    assert finding.link(TEXT, found=finding.find(TEXT)).to_dict() == finding.link(TEXT).to_dict()


def test_names_without_entity_are_shown_on_demand(finding):
    both = (finding.link(TEXT, threshold=0.99, nil=nil) for nil in (False, True))
    sure, shown = ({(m.start, m.end): m for m in document} for document in both)
    assert sure.keys() < shown.keys()
    for place, mention in shown.items():
        assert (mention.entity is None) == (place not in sure)
        assert 0 <= mention.detection <= 1
        assert sum(c.probability for c in mention.candidates) + mention.nil == pytest.approx(1)
    unknown = [m for m in shown.values() if not m.candidates]
    assert all(m.nil == 1 and m.probability == 0 and m.detection > 0 for m in unknown)


def test_a_name_found_once_is_found_again(finding):
    text = f"{TEXT} it was bayern, BAYERN and Bayern everywhere; Bayern, he said."
    found = finding.find(text)
    places = {(int(a), int(b)) for a, b in zip(found.start, found.end, strict=True)}
    expected = {(k, k + 6) for k in range(len(text)) if text.startswith("Bayern", k)}
    assert expected <= places


def test_a_text_means_the_same_alone_and_in_a_longer_one(finding):
    text = f"Gerd {TEXT}"  # which Müller may depend on the text around
    alone = [(m.start, m.end) for m in finding.link(text)]
    assert len(alone) == 4
    many = finding.link("\n\n".join([text] * 40))
    step = len(text) + 2
    for k in range(40):
        part = [(m.start - k * step, m.end - k * step) for m in many if m.start // step == k]
        assert part == alone
    assert len({(m.text, m.entity) for m in many}) == len({m.text for m in many})


def test_calibration_fits_the_decision_on_names(finding):
    pages = [page(*LINKS, title=f"Match {k}", text=TEXT) for k in range(3)]
    others = "The capital of Georgia is far from Paris, they say, and nobody walks to Bayern."
    links = (("Georgia", "Georgia (country)"), ("Paris", "Armenia"), ("Bayern", "Bavaria"))
    pages += [page(*links, title=f"Trip {k}", text=others) for k in range(3)]
    fitted = calibrate(finding, [Dataset("pages", tuple(pages))], complete=[Dataset("texts", tuple(pages))])
    assert set(fitted) == {"calibration", "detection", "names"}
    names = fitted["names"]
    assert {"name", "answer", "threshold", "fitted"} == set(names)
    assert names["fitted"]["documents"] == ["pages (6)", "texts (6)"]
    info = {**finding.model.info, "names": names}
    linked = Linker(replace(finding.model, info=info)).link(TEXT, threshold=0.0)
    assert all(0 <= m.detection <= 1 for m in linked)
    assert np.isfinite([m.detection for m in linked]).all()
