"""A report is saved whole."""

import errno
import json

import pytest

from likewise import writing
from likewise.errors import OutputError
from likewise.report import audit_report
from likewise.report.audit_report import FILES, RECORD_FILE


@pytest.mark.slow
def test_every_file_is_written_and_the_page_returned(make_report, tmp_path):
    page = make_report().save(tmp_path / "new" / "folder")
    assert page == tmp_path / "new" / "folder" / "report.html"
    assert {path.name for path in page.parent.iterdir()} == set(FILES)
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert json.loads((page.parent / "report.json").read_text(encoding="utf-8"))["schema"] == "likewise.audit"
    assert (page.parent / "ratios.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_all_but_the_records_of_the_run_has_the_same_bytes(make_report, tmp_path):
    for name in ("one", "two"):
        make_report().save(tmp_path / name)
    for name in set(FILES) - {"run.json", RECORD_FILE}:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


@pytest.mark.parametrize("trouble", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_trouble_half_way_leaves_nothing(make_report, tmp_path, monkeypatch, trouble):
    monkeypatch.setattr(audit_report, "draw", lambda *_: {"svg": b"<svg></svg>", "png": b"a drawing"})
    written = []

    def fail_at_the_third(path, content, write=writing._write_through):
        written.append(path)
        if len(written) == 3:
            raise trouble
        write(path, content)

    monkeypatch.setattr(writing, "_write_through", fail_at_the_third)
    with pytest.raises((OutputError, KeyboardInterrupt)):
        make_report().save(tmp_path / "report")
    assert list(tmp_path.iterdir()) == []
