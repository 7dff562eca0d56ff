"""Generates a client from the description and uses it: feed, next page, selection, undo."""
import importlib
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from service import Service, advertisement, user

FEED = """
kinds:
  story: {fields: {title: {type: text, required: true}}, cells: {collection: {identifier: StoryCell, size: 300x160, bind: {title: {text: title}}}}}
"""


def generate(folder):
    target = folder / "generated" / "feed_client"
    target.parent.mkdir(exist_ok=True)
    done = subprocess.run(
        [folder / "bin/openapi-python-client", "generate", "--path", folder / "openapi.json", "--meta", "none", "--output-path", target,
         "--overwrite"], env={**os.environ, "PATH": f"{folder.resolve() / 'bin'}:{os.environ['PATH']}"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    # The generator supports no images. Any other unsupported part would be missing from the client.
    skipped = [line for line in done.stdout.splitlines() if line.startswith("Cannot parse") and "image/*" not in line]
    assert not skipped, done.stdout
    sys.path.insert(0, str(target.parent))


def page(feed, client, href=None):
    """Returns the page of an href, requested by the generated client."""
    query = {name: values[0] for name, values in parse_qs(urlsplit(href or "").query).items()}
    return feed.sync(client=client, limit=int(query.pop("limit", 2)), **query)


def main():
    generate(Path(sys.argv[1]))
    api = {name: importlib.import_module(f"feed_client.api.{name}") for name in [
        "feed.get_feed", "actions.select_cell", "actions.undo_invocation", "actions.report_events", "feed.get_feed_changes"]}
    models = importlib.import_module("feed_client.models")
    items = [user(name) for name in ["Grace", "Ada", "Cash", "Glasses", "Frances"]]
    items += [advertisement(1), {"kind": "story", "id": "s", "title": "Swing"}]
    with Service(items, kinds=FEED) as service:
        # With the User-Agent of the HTTP library, the client is a robot, whose events do not count.
        client = importlib.import_module("feed_client").Client(
            base_url=service.base, raise_on_unexpected_status=True, headers={"User-Agent": "NewsApp/1.0 okhttp/4.12.0"})
        pages = [page(api["feed.get_feed"], client)]
        while pages[-1].page.next_:
            pages.append(page(api["feed.get_feed"], client, pages[-1].page.next_))
        cells = [cell for each in pages for cell in each.cells]
        content = [cell.id for cell in cells if not cell.id.startswith("ad:")]
        assert content == ["user:grace", "user:ada", "user:cash", "user:glasses", "user:frances", "story:s"], content
        grace, story = cells[[cell.id for cell in cells].index("user:grace")], cells[-1]
        # The client's types preserve all members of a cell.
        assert grace.identifier == "UserSnapshotCollectionViewCell" and grace.size.width == 300
        bindings = grace.actions.configuration.bindings
        assert bindings["username"].text == "Grace" and bindings["avatar"].href.startswith("/images/")
        assert story.identifier == "StoryCell" and story.actions.configuration.bindings["title"].text == "Swing"
        assert isinstance(grace.actions.selection, models.RequestAction), grace.actions.selection
        assert grace.actions.selection.href == "/cells/user:grace/selection"
        shown = next(cell for cell in cells if cell.id == "ad:1")
        assert isinstance(shown.actions.selection, models.LinkAction) and shown.actions.impression.body["events"][0]["type"] == "impression"

        done = api["actions.select_cell"].sync(grace.id, client=client)
        assert [step.command for step in done.commands] == ["analytics", "present"] and done.presentation.screen == "ImageZoom"
        undone = api["actions.undo_invocation"].sync(done.undo.href.removeprefix("/invocations/"), client=client)
        assert [step.outcome.value for step in undone.commands] == ["undone", "undone"], undone
        again = api["actions.undo_invocation"].sync(done.invocation.id, client=client)
        assert again.type_ == "/problems/already-undone", again
        judged = api["actions.report_events"].sync(
            client=client, body=models.Events.from_dict(shown.actions.impression.body))
        assert [each.verdict.value for each in judged.results] == ["counted"], judged
        first = api["feed.get_feed"].sync(
            client=client, limit=2, changes=True)
        changes = api["feed.get_feed_changes"].sync(client=client, sync_token=first.page.sync_token)
        assert isinstance(changes, models.BatchUpdate) and not changes.removed, changes
        assert isinstance(api["feed.get_feed_changes"].sync(client=client, sync_token="AAAA"), models.Reload)
    # Members of later versions are ignored.
    unknown = models.Actions.from_dict({"selection": {"type": "play", "href": "/stories/1"}, "sharing": {"type": "link", "href": "/s"}})
    assert isinstance(unknown.selection, models.UnknownAction) and unknown["sharing"].href == "/s"
    print(f"a generated client walked {len(pages)} pages, selected and undid")


if __name__ == "__main__":
    main()
