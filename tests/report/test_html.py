"""The page holds everything, loads nothing, and shows ids without running them."""

from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from likewise.fairness import LipschitzCertificates, RowDistance, Unavailable
from likewise.pipeline import audit
from likewise.report import EstimateSummary, as_page
from likewise.report.numbers import value_text

VOID = {"meta", "br", "link", "img", "input", "hr"}


class Page(HTMLParser):
    """Collect elements, text and addresses; fail where elements are not nested."""

    def __init__(self, text):
        super().__init__()
        self.source = text
        self.tags, self.words, self.addresses, self.open = [], [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.addresses += [
            value for name, value in attrs if name in ("src", "href", "xlink:href", "data", "action")
        ]
        assert not any(name.startswith("on") for name, _ in attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


@pytest.fixture(scope="module")
def page(make_report):
    return Page(as_page(make_report()))


@pytest.fixture(scope="module")
def invalid_page(make_report):
    return Page(as_page(make_report(valid=False)))


@pytest.mark.slow
def test_the_page_is_the_same_every_time(make_report, page):
    assert as_page(make_report()) == page.source


def test_ids_are_shown_not_run(page):
    text = page.source
    assert "<script" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "script" not in page.tags
    assert "<script>alert(1)</script>" in page.text
    assert "\x1b" not in text


def test_it_loads_nothing(page):
    assert [address for address in page.addresses if not address.startswith("#")] == []
    assert not {"link", "img", "iframe", "object"} & set(page.tags)


def test_it_forbids_scripts(page):
    assert "Content-Security-Policy\" content=\"default-src 'none'" in page.source


def test_findings_come_first(make_report, page):
    report = make_report()
    places = [page.text.index(finding) for finding in report.findings]
    assert places == sorted(places)
    headings = (
        "gap of similar pairs",
        "Who is treated worst",
        "What this does not show",
        "Data",
        "Everything else",
    )
    order = [places[0], *(page.text.index(heading, places[0]) for heading in headings)]
    assert order == sorted(order)
    assert order[-1] < places[1]


def test_every_figure_is_there(make_report, page):
    for arm in make_report().arms.values():
        for figure in arm.fairness.metrics().values():
            assert value_text(figure) in page.text


def test_all_drawings_are_inside(page):
    assert page.tags.count("svg") == 3
    assert page.tags.count("figcaption") == 3


def test_every_section_is_there(page):
    for heading in (
        "Both arms, every metric",
        "What is proved",
        "Who is treated worst",
        "Data",
        "Method, notes and settings",
        "How to read this",
        "What this does not show",
    ):
        assert heading in page.text


def test_certificates_name_norms_domain_and_assumptions(page):
    proved = page.text[page.text.index("What is proved") : page.text.index("The largest ratios")]
    for words in ("K*", "l1 to l2", "every pair of rows", "strong incoherence", "clipping does not expand"):
        assert words in proved


def test_the_released_codes_convention_is_called_invalid(invalid_page):
    text = invalid_page.text
    assert text.index("Not a valid before/after comparison") < text.index("Both arms, every metric")
    assert "The yardstick changes between the arms." in text


def test_only_what_can_be_compared_has_an_arrow(page, invalid_page):
    assert page.text.count("→") == 3
    assert invalid_page.text.count("→") == 1  # the error needs no reference distance


def test_a_valid_comparison_bears_no_alarm(page):
    assert "Not a valid" not in page.text


def test_outputs_from_elsewhere_without_estimate(make_report):
    from dataclasses import replace

    report = replace(make_report(arms=("with",)), estimate=None, certificates=None)
    page = Page(as_page(report))
    assert page.tags.count("svg") == 2
    assert "there is no pre-processing step to certify" in page.text


def test_a_notebook_shows_it_in_a_frame_of_its_own(make_report):
    shown = make_report()._repr_html_()
    assert shown.startswith("<iframe srcdoc=")
    assert "<script" not in shown


@pytest.mark.slow
def test_data_that_came_from_no_file_are_called_data(make_report):
    report = make_report()
    assert "Individual fairness of [b]ratings.csv" in Page(as_page(report)).text
    in_memory = replace(report, data=replace(report.data, source="in memory"))
    assert "Individual fairness of data in memory" in Page(as_page(in_memory)).text


def test_the_reason_why_nothing_is_proved_stands_once(make_report):
    missing = LipschitzCertificates(
        *(Unavailable(name, "rows are regressions") for name in "abcdefg"), incoherence=None
    )
    text = Page(as_page(replace(make_report(), certificates=missing))).text
    assert "No constant is proved for: a; b; c; d; e; f; g. The reason: rows are regressions." in text
    assert text.count("rows are regressions") == 1


def test_numbers_below_the_answer_are_folded_away(page):
    start = page.source.index("<h2>Everything else</h2>")
    assert "<table" not in page.source[page.source.index("<h2>What this does not show") : start]
    assert page.source[start:].count("<details>") >= 6


def test_columns_files_versions_date_and_command_are_named(page):
    for words in (
        "individuals from <user>, features from item",
        "left out: time",
        f"ratings.csv, 99 bytes, SHA-256 {'ab' * 32}",
        "likewise 0.1.0, Python 3.12.1",
        "2026-01-02T03:04:05+00:00",
        "to repeat: likewise audit ratings.csv",
    ):
        assert words in page.text


def test_a_pair_is_explained_with_both_rows_side_by_side(make_report, page):
    (told,) = make_report().arms["with"].explained
    assert {(part.left, part.right) for part in told.reference.apart}
    for word in ("close in", "apart in", "side by side"):
        assert word in page.text


@pytest.mark.slow
def test_no_pair_has_a_ratio_that_is_infinite():
    """Page and terminal say that d does not tell two people apart; so does the list of the largest ratios."""
    report = audit(RowDistance([[0.0], [0.0], [3.0], [5.0]]), outputs=[0.0, 1.0, 2.0, 9.0])
    told = (
        Page(as_page(report))
        .text.partition("The largest ratios, ")[2]
        .partition("Method, notes and settings")[0]
    )
    assert "0 1 0 1 not told apart by d" in told
    assert "infinite" not in told
    assert "0 and 1, not told apart by d (D 1, d 0)" in " ".join(report.details().split())


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["<script>x</script>", "\u202eolleh", "'\"=1+1", "\N{PILE OF POO}" * 3, "z" * 10_000]
)
def test_names_that_mean_harm_or_never_end_do_none(make_report, name):
    report = make_report(arms=("with",))
    pair = replace(report.arms["with"].explained[0], left=name)
    source = as_page(replace(report, arms={"with": replace(report.arms["with"], explained=(pair,))}))
    assert "<script" not in source
    assert "\u202e" not in source
    assert "z" * 61 not in source
    Page(source)


@pytest.mark.slow
def test_the_page_is_small_however_many_people_there_are():
    """A report of 3,000 people, with a spectrum of 5,000 values, is no larger than one of 60 by much."""
    rng = np.random.default_rng(0)
    report = audit(RowDistance(rng.standard_normal((3000, 3))), outputs=rng.standard_normal(3000), pairs=2000)
    summary = EstimateSummary("SVT()", None, None, 5000, np.geomspace(100, 1e-3, 5000), 0.0, None, None)
    assert len(as_page(replace(report, estimate=summary)).encode()) < 1_000_000
