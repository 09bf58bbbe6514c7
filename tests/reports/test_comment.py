"""`llmfair comment` against a server that speaks GitHub's API."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from pytest_llmfair.cli import main
from pytest_llmfair.reports.markdown import marker

TOKEN = "ghs_aVerySecretToken"


class GitHub(ThreadingHTTPServer):
    """The comments of one pull request, on a port of this machine."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.comments, self.requests, self.status = [], [], None
        self.address = f"http://127.0.0.1:{self.server_port}"

    def add(self, body, author="github-actions[bot]"):
        number = len(self.comments) + 1
        made = {"id": number, "body": body, "html_url": f"https://example/{number}"}
        self.comments.append({**made, "user": author and {"login": author}})
        return self.comments[-1]


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, *arguments):
        pass

    def answer(self):
        server = self.server
        size = int(self.headers.get("Content-Length", 0))
        body = json.loads(self.rfile.read(size) or "null")
        server.requests.append((self.command, self.path, dict(self.headers)))
        path, _, query = self.path.partition("?")
        status, found = server.status or 200, {"message": "no"}
        if server.status is None and self.headers["Authorization"] != f"Bearer {TOKEN}":
            status = 401
        elif server.status is None and path == "/graphql":
            found = {"data": {"viewer": {"login": "github-actions[bot]"}}}
        elif server.status is None and path == "/repos/me/bot/issues/7/comments":
            if self.command == "POST":
                status, found = 201, server.add(body["body"])
            else:
                page = int(query.rpartition("page=")[2])
                found = server.comments[100 * (page - 1) : 100 * page]
        elif server.status is None and path.startswith("/repos/me/bot/issues/comments/"):
            found = server.comments[int(path.rpartition("/")[2]) - 1]
            found["body"] = body["body"]
        elif server.status is None:
            status = 404
        data = json.dumps(found).encode()
        self.send_response(status)
        if status == 302:
            self.send_header("Location", f"{server.address}/elsewhere")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PATCH = answer


@pytest.fixture
def github(monkeypatch):
    """Return the server, which the environment names."""
    with GitHub() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("GITHUB_API_URL", server.address)
        monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
        yield server
        server.shutdown()


@pytest.fixture
def comment(showcase):
    """Return a function that runs the command on a recorded run."""

    def comment(*arguments, repository="me/bot", number="7"):
        run = str(showcase / "run.json")
        return main(["comment", run, "--repo", repository, "--pr", number, *arguments])

    return comment


@pytest.mark.slow
def test_a_comment_is_posted_once_and_updated_after_that(github, comment, capsys, showcase):
    github.add("a remark of a reviewer about <!-- pytest-llmfair report -->")
    assert comment() == 0
    assert capsys.readouterr().out == "posted https://example/2\n"
    github.comments[1]["body"] = github.comments[1]["body"][:40]
    assert comment() == 0
    assert capsys.readouterr().out == "updated https://example/2\n"
    assert len(github.comments) == 2
    assert github.comments[1]["body"] == (showcase / "run.md").read_text("utf-8")
    asked = [method for method, path, _ in github.requests if path != "/graphql"]
    assert asked == ["GET", "POST", "GET", "PATCH"]


@pytest.mark.parametrize("author", ["attacker", "github-actions", None, "GitHub-Actions[bot] "])
def test_a_comment_of_another_author_is_never_updated(github, comment, author):
    trap = f"{marker()}\n## PASS Fairness"
    github.add(trap, author)
    comment()
    comment()
    assert github.comments[0]["body"] == trap
    assert [each["user"] for each in github.comments[1:]] == [{"login": "github-actions[bot]"}]


def test_the_link_is_made_here_and_never_taken_from_the_record(
    github, comment, showcase, tmp_path, capsys
):
    document = json.loads((showcase / "run.json").read_text("utf-8"))
    forged = "https://evil.example.org/me/bot/actions/runs/1"
    document["context"]["ci"] = {"provider": "GitHub Actions", "run_url": forged}
    (tmp_path / "run.json").write_text(json.dumps(document))
    asked = ["comment", str(tmp_path / "run.json"), "--repo", "me/bot", "--pr", "7"]
    assert main(asked) == 0
    assert "evil" not in github.comments[0]["body"]
    assert main([*asked, "--run-id", "42"]) == 0
    assert "evil" not in github.comments[0]["body"]
    assert "(https://github.com/me/bot/actions/runs/42)" in github.comments[0]["body"]


def test_the_comment_is_found_on_a_later_page(github, comment):
    for i in range(230):
        github.add(f"remark {i}")
    comment()
    comment()
    assert len(github.comments) == 231
    assert github.requests[-1][1] == "/repos/me/bot/issues/comments/231"


def test_suites_with_names_have_comments_of_their_own(github, comment):
    comment("--name", "nightly")
    comment()
    comment("--name", "nightly")
    bodies = [each["body"].partition("\n")[0] for each in github.comments]
    assert bodies == [
        "<!-- pytest-llmfair report: nightly -->",
        "<!-- pytest-llmfair report -->",
    ]


def test_a_dry_run_sends_nothing(github, comment, capsys, showcase):
    assert comment("--dry-run") == 0
    assert capsys.readouterr().out == (showcase / "run.md").read_text("utf-8")
    assert github.requests == []


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (401, "GITHUB_TOKEN is not valid"),
        (403, "pull-requests: write"),
        (404, "there is no such repository or pull request"),
        (500, "try again later"),
        (302, "GitHub answered 302"),
    ],
)
def test_a_refusal_says_why_and_never_shows_the_token(github, comment, capsys, status, message):
    github.status = status
    with pytest.raises(SystemExit) as stopped:
        comment()
    assert stopped.value.code == 2
    shown = "".join(capsys.readouterr())
    assert message in shown
    assert TOKEN not in shown
    # A redirect is not followed, because another server must not get the token.
    assert len(github.requests) == 1


def test_a_server_that_does_not_answer_is_an_error(github, comment, capsys):
    github.shutdown()
    github.server_close()
    with pytest.raises(SystemExit):
        comment()
    assert "GitHub did not answer POST" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "environment", "message"),
    [
        ({"repository": "bot"}, {}, "--repo is 'bot'; give OWNER/NAME"),
        ({"repository": "me/../bot"}, {}, "give OWNER/NAME"),
        ({"number": "0"}, {}, "--pr is 0; give the number of a pull request"),
        ({}, {"GITHUB_TOKEN": ""}, "GITHUB_TOKEN is not set"),
        ({}, {"GITHUB_API_URL": "http://api.example.org"}, "a token is sent over https only"),
    ],
)
def test_wrong_input_is_told_before_anything_is_sent(
    github, comment, capsys, monkeypatch, given, environment, message
):
    for name, text in environment.items():
        monkeypatch.setenv(name, text)
    with pytest.raises(SystemExit):
        comment(**given)
    assert message in capsys.readouterr().err
    assert github.requests == []
