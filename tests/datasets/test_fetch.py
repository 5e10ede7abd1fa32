"""A data set is fetched whole and checked, or not at all: against a server on this machine that truncates, lies, stalls and redirects."""

import io
import threading
import time
import zipfile
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from likewise.datasets import DATASETS, Dataset, fetch
from likewise.errors import DownloadError, InputError

pytest.importorskip("pooch", reason="fetching needs the extra 'data'")

RATINGS = b"1::10::5\n2::10::3\n" * 5000


def archive(files=(("toy/ratings.dat", RATINGS), ("toy/README", b"licence"))):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as made:
        for name, content in files:
            made.writestr(name, content)
    return stream.getvalue()


GOOD = archive()


class Server(ThreadingHTTPServer):
    """Serves one archive in the way that a test asks for; remembers from which byte on it was asked."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.content, self.trouble, self.asked = GOOD, None, []
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/toy.zip"


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        trouble, content = self.server.trouble, self.server.content
        asked = self.headers.get("Range")
        first = int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0
        self.server.asked.append(first)
        if trouble == "redirects" and self.path != "/moved":
            return self.answer(302, b"", Location="/moved")
        if trouble == "loop":
            return self.answer(302, b"", Location=self.path)
        if trouble == "missing":
            return self.answer(404, b"no such file")
        if first >= len(content):
            return self.answer(416, b"")
        if trouble == "no ranges":
            return self.answer(200, content)
        body = content[first:]
        if trouble == "truncates":
            return self.answer(206 if first else 200, body[: len(body) // 2], length=len(body))
        if trouble == "stalls":
            return self.answer(200, body[: len(body) // 2], length=len(body), wait=5)
        return self.answer(206 if first else 200, body)

    def answer(self, code, body, length=None, wait=0.0, **headers):
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()
        if wait:
            time.sleep(wait)


@pytest.fixture
def server():
    made = Server()
    yield made
    made.shutdown()
    made.server_close()


def toy(server, content=GOOD, **changes):
    known = {"sha256": sha256(content).hexdigest(), "n_bytes": len(content), "at_most": 1 << 20} | changes
    return Dataset("toy", "Toy", "two people", server.url, "Free.", "ratings.dat", **known)


def get(server, folder, dataset=None, **options):
    return fetch(dataset or toy(server), folder, accept_licence=True, patience=0.5, **options)


def test_a_data_set_is_fetched_unpacked_and_found_again(server, tmp_path):
    folder = get(server, tmp_path / "new")
    assert folder == tmp_path / "new" / "toy"
    assert (folder / "ratings.dat").read_bytes() == RATINGS
    assert (folder / "README").read_bytes() == b"licence"
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["toy"]
    server.trouble = "missing"
    assert get(server, tmp_path / "new") == folder
    assert len(server.asked) == 1


def test_the_licence_comes_first(server, tmp_path):
    with pytest.raises(InputError, match=r"licence was not accepted.*Hint: Free"):
        fetch(toy(server), tmp_path)
    assert server.asked == []


def test_a_redirect_is_followed(server, tmp_path):
    server.trouble = "redirects"
    assert get(server, tmp_path).is_dir()


@pytest.mark.parametrize(
    ("trouble", "message"),
    [("loop", "redirect"), ("missing", "404"), ("stalls", "timed out|Timeout"), ("truncates", "are kept")],
)
def test_trouble_is_told_in_one_line_and_nothing_is_in_place(server, tmp_path, trouble, message):
    server.trouble = trouble
    with pytest.raises(DownloadError, match=message) as raised:
        get(server, tmp_path)
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "toy").exists()


@pytest.mark.parametrize("trouble", ["truncates", "stalls"])
def test_the_next_call_goes_on_where_the_last_one_stopped(server, tmp_path, trouble):
    server.trouble = trouble
    with pytest.raises(DownloadError):
        get(server, tmp_path)
    server.trouble = None
    assert (get(server, tmp_path) / "ratings.dat").read_bytes() == RATINGS
    assert server.asked[0] == 0
    assert 0 < server.asked[1] < len(GOOD)
    assert [path.name for path in tmp_path.iterdir()] == ["toy"]


@pytest.mark.parametrize("n_bytes", [len(GOOD), None])
def test_a_server_without_ranges_is_asked_from_the_start(server, tmp_path, n_bytes):
    server.trouble = "truncates"
    with pytest.raises(DownloadError):
        get(server, tmp_path, toy(server, n_bytes=n_bytes))
    server.trouble = "no ranges"
    assert (get(server, tmp_path, toy(server, n_bytes=n_bytes)) / "ratings.dat").read_bytes() == RATINGS


def test_rubbish_that_was_kept_is_thrown_away(server, tmp_path):
    for content in (b"x" * 100, b"x" * (len(GOOD) + 5), b"x" * len(GOOD)):
        (tmp_path / ".likewise-toy.zip.part").write_bytes(content)
        folder = get(server, tmp_path)
        assert (folder / "ratings.dat").read_bytes() == RATINGS
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()


@pytest.mark.parametrize("n_bytes", [len(GOOD), None])
@pytest.mark.parametrize(
    "content", [GOOD[:-1] + b"x", GOOD + b"more", b"x" * (2 << 20), archive([("a", b"b")])]
)
def test_another_file_is_refused_and_not_kept(server, tmp_path, content, n_bytes):
    server.content = content
    with pytest.raises(DownloadError, match=r"sent|sends"):
        get(server, tmp_path, toy(server, n_bytes=n_bytes))
    assert list(tmp_path.iterdir()) == []


def test_no_server_is_told(tmp_path, server):
    dataset = toy(server)
    server.shutdown()
    server.server_close()
    with pytest.raises(DownloadError, match="cannot fetch"):
        get(server, tmp_path, dataset)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ([("../ratings.dat", b"x")], "no plain file below"),
        ([("/etc/ratings.dat", b"x")], "no plain file below"),
        ([("c:\\ratings.dat", b"x")], "no plain file below"),
        ([("toy/..\\..\\ratings.dat", b"x")], "no plain file below"),
        ([("toy/a", b"x"), ("toy/A", b"y")], "two files of one name"),
        ([(f"{i}", b"") for i in range(1001)], "1001 files"),
        ([], "0 files"),
        ([("toy/ratings.dat", b"0" * (13 << 20))], "more than expected"),
    ],
)
def test_an_archive_with_bad_content_leaves_nothing(server, tmp_path, files, message):
    """Even with the right checksum: who made the archive may have meant harm."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files:
            made.writestr(name, content)
    server.content = stream.getvalue()
    with pytest.raises(DownloadError, match=message):
        get(server, tmp_path / "here", toy(server, server.content))
    assert list((tmp_path / "here").iterdir()) == []
    assert [path.name for path in tmp_path.iterdir()] == ["here"]


def test_a_link_in_an_archive_is_refused(server, tmp_path):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as made:
        link = zipfile.ZipInfo("toy/ratings.dat")
        link.external_attr = 0o120777 << 16
        made.writestr(link, "/etc/passwd")
    server.content = stream.getvalue()
    with pytest.raises(DownloadError, match="no plain file"):
        get(server, tmp_path, toy(server, server.content))


@pytest.mark.parametrize("content", [b"no archive", GOOD[:-30], GOOD.replace(b"1::10::5", b"1::10::4", 1)])
def test_a_damaged_archive_leaves_nothing(server, tmp_path, content):
    server.content = content
    with pytest.raises(DownloadError, match="cannot be unpacked"):
        get(server, tmp_path, toy(server, content))
    assert list(tmp_path.iterdir()) == []


def test_where_the_archive_has_no_known_checksum_its_files_are_checked(server, tmp_path):
    right = {"ratings.dat": sha256(RATINGS).hexdigest()}
    assert get(server, tmp_path, toy(server, sha256=None, n_bytes=None, members=right)).is_dir()
    for members, message in (
        ({"ratings.dat": "0" * 64}, "is expected"),
        ({"other": "0" * 64}, "without other"),
    ):
        with pytest.raises(DownloadError, match=message):
            get(server, tmp_path / "b", toy(server, sha256=None, n_bytes=None, members=members))


def test_what_nobody_could_check_is_not_fetched(tmp_path):
    with pytest.raises(InputError, match="no checksum is known"):
        fetch("jester", tmp_path, accept_licence=True)
    with pytest.raises(InputError, match="did you mean 'ml-100k'"):
        fetch("ml100k", tmp_path, accept_licence=True)


def test_every_data_set_has_a_licence_and_a_way_to_be_checked_or_is_refused():
    for name, dataset in DATASETS.items():
        assert name == dataset.name
        assert dataset.url.startswith("https://")
        assert len(dataset.licence) > 40
        assert dataset.sha256 is None or len(bytes.fromhex(dataset.sha256)) == 32
        assert dataset.n_bytes is None or dataset.n_bytes <= dataset.at_most
        assert all(len(bytes.fromhex(checksum)) == 32 for checksum in dataset.members.values())
    assert [name for name in DATASETS if not DATASETS[name].checked_by] == ["jester"]
