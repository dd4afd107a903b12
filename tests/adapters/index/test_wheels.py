"""Single files out of wheels that come from a local server, whole or hostile."""

from __future__ import annotations

import hashlib
import io
import struct
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from harness.adapters.index import wheels
from harness.adapters.index.wheels import read_files
from harness.adapters.storage.home import Home
from harness.domain.errors import InfrastructureError, Untestable
from harness.domain.releases.index_page import WheelFile

NAME = "keras/src/core.py"


class Server:
    """Serves bytes by path and counts the requests."""

    def __init__(self):
        self.files: dict[str, bytes] = {}
        self.requests: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                outer.requests.append(self.path)
                content = outer.files.get(self.path.strip("/"))
                self.send_response(404 if content is None else 200)
                self.send_header("Content-Length", str(len(content or b"")))
                self.end_headers()
                self.wfile.write(content or b"")

            def log_message(self, *args):
                pass

        self.httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.httpd.serve_forever, daemon=True).start()

    def put(self, name, content, sha256="right"):
        self.files[name] = content
        right = hashlib.sha256(content).hexdigest()
        return self.at(name, {"right": right, "none": None}.get(sha256, sha256))

    def at(self, name, sha256=None):
        return WheelFile(url=f"http://127.0.0.1:{self.httpd.server_port}/{name}", sha256=sha256)


@pytest.fixture
def server():
    made = Server()
    yield made
    made.httpd.shutdown()
    made.httpd.server_close()


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path / "home")


def archive(files, compression=zipfile.ZIP_DEFLATED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as made:
        for name, content in files.items():
            made.writestr(name, content)
    return buffer.getvalue()


def kept(home):
    return sorted(path.name for path in home.folder("wheels").iterdir())


class TestRead:
    def test_the_named_files_and_no_others(self, server, home):
        wheel = server.put("w.whl", archive({NAME: "x = 1\n", "other.py": "y = 2\n"}))
        assert read_files(home, "keras", "3.9.0", wheel, [NAME, "missing.py"]) == {NAME: "x = 1\n"}

    def test_it_is_fetched_once(self, server, home):
        wheel = server.put("w.whl", archive({NAME: "x = 1\n"}))
        for _ in range(3):
            read_files(home, "keras", "3.9.0", wheel, [NAME])
        assert len(server.requests) == 1

    def test_another_wheel_of_the_same_version_is_another_file(self, server, home):
        for text in ("x = 1\n", "x = 2\n"):
            wheel = server.put(f"{text[4]}.whl", archive({NAME: text}))
            assert read_files(home, "keras", "3.9.0", wheel, [NAME]) == {NAME: text}
        assert len(kept(home)) == 2

    def test_an_index_without_hashes(self, server, home):
        wheel = server.put("w.whl", archive({NAME: "x = 1\n"}), sha256="none")
        assert read_files(home, "keras", "3.9.0", wheel, [NAME]) == {NAME: "x = 1\n"}

    def test_bytes_that_are_no_text(self, server, home):
        wheel = server.put("w.whl", archive({NAME: b"\xff"}))
        assert read_files(home, "keras", "3.9.0", wheel, [NAME]) == {NAME: "\ufffd"}


class TestHostile:
    def test_a_wrong_hash_leaves_nothing_behind(self, server, home):
        wheel = server.put("w.whl", archive({NAME: "evil\n"}), sha256="0" * 64)
        with pytest.raises(InfrastructureError, match="hash is not the one that the index promised"):
            read_files(home, "keras", "3.9.0", wheel, [NAME])
        assert kept(home) == []

    def test_a_kept_wheel_that_was_damaged_is_fetched_again(self, server, home):
        wheel = server.put("w.whl", archive({NAME: "x = 1\n"}))
        read_files(home, "keras", "3.9.0", wheel, [NAME])
        (path,) = (home.root / "wheels").iterdir()
        path.write_bytes(path.read_bytes()[:20])
        assert read_files(home, "keras", "3.9.0", wheel, [NAME]) == {NAME: "x = 1\n"}

    def test_a_broken_wheel_with_the_published_hash_is_the_release_s_own_fault(self, server, home):
        wheel = server.put("w.whl", b"this was published")
        with pytest.raises(Untestable, match="cannot be read"):
            read_files(home, "keras", "3.9.0", wheel, [NAME])

    def test_a_wheel_that_does_not_end(self, server, home, monkeypatch):
        monkeypatch.setattr(wheels, "LARGEST_WHEEL", 100_000)
        wheel = server.put("w.whl", b"\x00" * 300_000)
        with pytest.raises(Untestable, match="larger than 100000 bytes"):
            read_files(home, "keras", "3.9.0", wheel, [NAME])
        assert kept(home) == []

    def test_a_file_that_unpacks_to_far_more(self, server, home, monkeypatch):
        monkeypatch.setattr(wheels, "LARGEST_FILE", 1000)
        wheel = server.put("w.whl", archive({NAME: "x" * 100_000}))
        with pytest.raises(Untestable, match="larger than 1000 bytes"):
            read_files(home, "keras", "3.9.0", wheel, [NAME])

    def test_a_file_that_lies_about_its_size(self, server, home, monkeypatch):
        """What is read is never more than what was declared."""
        monkeypatch.setattr(wheels, "LARGEST_FILE", 1000)
        content = archive({NAME: "x" * 100_000})
        lying = content.replace(struct.pack("<I", 100_000), struct.pack("<I", 10))
        wheel = server.put("w.whl", lying)
        with pytest.raises(Untestable, match="cannot be read"):
            read_files(home, "keras", "3.9.0", wheel, [NAME])

    @pytest.mark.parametrize("keep", [0, 20, -30, -100])
    def test_a_torn_archive_is_fetched_anew_next_time(self, server, home, keep):
        whole = archive({NAME: "x = 1\n" * 100, "other": "y" * 500})
        wheel = server.put("w.whl", whole[:keep], sha256="none")
        with pytest.raises(InfrastructureError, match="cannot be read"):
            read_files(home, "keras", "3.9.0", wheel, [NAME])
        assert kept(home) == []
        server.put("w.whl", whole)
        assert NAME in read_files(home, "keras", "3.9.0", wheel, [NAME])

    def test_torn_in_the_middle_of_the_file(self, server, home):
        whole = bytearray(archive({NAME: "".join(f"x{n} = {n * n}\n" for n in range(500))}))
        whole[200:260] = b"\xff" * 60
        wheel = server.put("w.whl", bytes(whole))
        with pytest.raises(Untestable, match="cannot be read"):
            read_files(home, "keras", "3.9.0", wheel, [NAME])

    @pytest.mark.parametrize(("offset", "value"), [(6, 1), (8, 99)])
    def test_encrypted_or_packed_in_an_unknown_way(self, server, home, offset, value):
        whole = bytearray(archive({NAME: "x = 1\n"}))
        whole[offset] = value
        directory = whole.rindex(b"PK\x01\x02")
        whole[directory + offset + 2] = value
        wheel = server.put("w.whl", bytes(whole))
        with pytest.raises(Untestable, match="cannot be read"):
            read_files(home, "keras", "3.9.0", wheel, [NAME])

    @pytest.mark.parametrize("version", ["../../escaped", "/escaped", "3.9.0/../../../escaped", "a\\..\\b", "3.9\x00"])
    def test_a_version_cannot_leave_the_folder(self, server, home, tmp_path, version):
        wheel = server.put("w.whl", archive({NAME: "x = 1\n"}))
        read_files(home, "keras", version, wheel, [NAME])
        assert [path.parent for path in tmp_path.rglob("*.whl")] == [home.folder("wheels")]

    def test_names_inside_are_never_paths_on_the_disk(self, server, home, tmp_path):
        name = "../../escaped.py"
        wheel = server.put("w.whl", archive({name: "evil\n"}))
        assert read_files(home, "keras", "3.9.0", wheel, [name]) == {name: "evil\n"}
        assert list(tmp_path.rglob("escaped.py")) == []


class TestNetwork:
    def test_a_file_that_is_not_there(self, server, home):
        with pytest.raises(InfrastructureError, match="the wheel cannot be fetched: HTTPError") as caught:
            read_files(home, "keras", "3.9.0", server.at("gone.whl"), [NAME])
        assert caught.value.hint
        assert kept(home) == []

    def test_a_server_that_does_not_answer(self, server, home):
        server.httpd.server_close()
        with pytest.raises(InfrastructureError, match="the wheel cannot be fetched: ConnectionError"):
            read_files(home, "keras", "3.9.0", server.at("w.whl"), [NAME])

    def test_a_wheel_that_comes_by_halves_is_not_kept(self, server, home):
        class Half(bytes):
            def __len__(self):
                return super().__len__() + 100

        server.files["w.whl"] = Half(archive({NAME: "x = 1\n"}))
        with pytest.raises((InfrastructureError, Untestable)):
            read_files(home, "keras", "3.9.0", server.at("w.whl", hashlib.sha256(b"").hexdigest()), [NAME])
        assert kept(home) == []
