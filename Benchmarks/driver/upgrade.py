"""Replaces replicas of one version by another version, one by one, under load."""
import time

import cut


def upgrade(start, older, newer, click, seconds):
    """Two older replicas; a newer one beside them, which migrates; then one of the older goes, a second newer one comes, and the last older one goes.

    Returns what the newer ones migrated, and what went wrong: each as a question to the server."""
    running, loads, wrong = {}, {}, {"pages that were not answered": 0}
    paths = {}

    def begin(name, binary):
        one = running[name] = start(name, binary)
        paths[name] = click(one)[len(one.url("")):]
        loads[name] = cut.Clicks("127.0.0.1", one.port, paths[name], name)

    def end(name):
        loads[name].stop()
        running.pop(name).stop()

    # Viewers who click on every replica in turn: one click within the window counts.
    people = []

    def look():
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            person = f"person-{len(people)}"
            people.append(person)
            names = sorted(running)
            for name in names[len(people) % len(names):] + names[: len(people) % len(names)]:
                if cut.status("127.0.0.1", running[name].port, paths[name], person) != 302:
                    people.remove(person)
                    break
            wrong["pages that were not answered"] += sum(
                cut.status("127.0.0.1", one.port, "/feed", "") != 200 for one in running.values())

    try:
        begin("old-1", older)
        begin("old-2", older)
        look()
        begin("new-1", newer)
        look()
        end("old-1")
        begin("new-2", newer)
        look()
        end("old-2")
        look()
        for load in loads.values():
            load.stop()
    finally:
        for one in running.values():
            one.stop()
    answered = [viewer for load in loads.values() for viewer in load.answered]
    wrong["other answers to clicks than 302"] = {status for load in loads.values() for status in load.statuses} - {302}

    def left(server):
        def count(text):
            return int(server.sql(text, "upgraded"))

        found = set(server.sql("SELECT viewer FROM event WHERE verdict = 'counted'", "upgraded").splitlines())
        counted = "SELECT viewer FROM event WHERE verdict = 'counted' AND viewer LIKE '{}' GROUP BY viewer HAVING count(*) > 1"
        return {
            **wrong, f"of {len(answered):,} answered clicks lost": len(set(answered) - found),
            "of those counted more than once": count(f"SELECT count(*) FROM ({counted.format('%-%-%')}) AS more"),
            f"of {len(people):,} who clicked on every replica not counted": len(set(people) - found),
            "of those counted more than once on replicas of both versions":
                count(f"SELECT count(*) FROM ({counted.format('person-%')}) AS more"),
        }

    def migrated(server):
        return server.sql("SELECT string_agg(part || ' ' || version, '; ' ORDER BY made) FROM intertwine_schema WHERE made > ("
                          "SELECT min(made) + interval '1 second' FROM intertwine_schema)", "upgraded") or "none"

    return migrated, left
