"""The faults of Tests/faults: the folder of its sources, a text in them, and what stands there instead, in which FAULT is true if the fault is selected."""

HELPER = """
import Glibc

private let seededFault = getenv("SEEDED_FAULT").flatMap { Int(String(cString: $0)) } ?? 0
private func isSeeded(_ number: Int) -> Bool { seededFault == number }
"""

# The image worker starts without an environment. In the copy, it has that of the service, and so the selected fault. The test that it has none goes.
PASSED_ON = [
    ("Sources/CIntertwineLinux/CIntertwineLinux.c", "char *const environment[] = {NULL};", "extern char **environ;\n    char *const *environment = environ;"),
    ("Tests/Unit/ImagesTests/WorkerTests.swift", '#expect(try Data(contentsOf: URL(fileURLWithPath: "/proc/\(worker)/environ")).isEmpty)', ""),
]

FAULTS = {
    # A language that the client refuses is chosen.
    1: ("IntertwinePrimitives", "if let index = tags.firstIndex(of: wanted), !refused.contains(wanted) { return index }",
        "if let index = tags.firstIndex(of: wanted), FAULT || !refused.contains(wanted) { return index }"),
    # A timer beyond one turn of the wheel fires early.
    2: ("IntertwineHTTPServer/EventLoop", "if nodes[Int(index)].tick <= tick { link(index, into: dueList) }",
        "if FAULT || nodes[Int(index)].tick <= tick { link(index, into: dueList) }"),
    # A pair of surrogates becomes another character.
    3: ("IntertwinePrimitives/JSON", "(scalar - 0xD800) << 10 +", "(scalar - 0xD800) << (FAULT ? 9 : 10) +"),
    # A field that is missing counts as a text.
    4: ("IntertwineFeed/Kinds", "guard let text else { return .missing }", "guard let text else { return FAULT ? .text : .missing }"),
    # Frequency caps ignore their window.
    5: ("IntertwineFeed/Ads", "moment.map { $0 > now - Int64(cap.window) * 1_000 } ?? true", "moment.map { FAULT || $0 > now - Int64(cap.window) * 1_000 } ?? true"),
    # A change of a cell's content is not told.
    6: ("IntertwineFeed", "if old[index].digest != new[place].digest { reconfigured.append(place) }",
        "if !FAULT, old[index].digest != new[place].digest { reconfigured.append(place) }"),
    # Prefetched clicks count.
    7: ("IntertwineFeed/Ledger", "if isHead || purposes.contains(where: Self.early.matches) { return .prefetch }",
        "if isHead || !FAULT && purposes.contains(where: Self.early.matches) { return .prefetch }"),
    # Operations place items on the wrong side in a descending section.
    8: ("IntertwineStorageCore", "let isReversed = orders[stream]?.isDescending == true", "let isReversed = !FAULT && orders[stream]?.isDescending == true"),
    # Commits of other processes are not noticed.
    9: ("IntertwineStorage", "return StoreVersion(high: first.1 & 0xFFFF_FFFF, low: first.3)",
        "return StoreVersion(high: FAULT ? 0 : first.1 & 0xFFFF_FFFF, low: FAULT ? 0 : first.3)"),
    # Messages show the password of the database.
    10: ("IntertwinePostgreSQL", "guard !password.isEmpty else { return message }", "guard !password.isEmpty, !FAULT else { return message }"),
    # A weak entity tag does not match.
    11: ("IntertwineHTTPServer", "return names(.ifNoneMatch, entityTag, strongly: false)", "return names(.ifNoneMatch, entityTag, strongly: FAULT)"),
    # A range such as text/* is ignored.
    12: ("IntertwineHTTPServer/Routing", 'return named(type) ?? named(group) ?? named("*/*") ?? 0', 'return named(type) ?? (FAULT ? nil : named(group)) ?? named("*/*") ?? 0'),
    # A private IPv4 address inside an IPv6 address may be fetched.
    13: ("IntertwineImages/Fetch", "return target.embedded.allSatisfy {", "return FAULT || target.embedded.allSatisfy {"),
    # Images that must be revalidated are served stale.
    14: ("IntertwineImages", "let forbidsStale = revalidation > .nobody", "let forbidsStale = !FAULT && revalidation > .nobody"),
    # An algorithm that the settings do not name is accepted.
    15: ("IntertwineService/Identity", "guard rules.algorithms.contains(parsed.algorithm) else", "guard FAULT || rules.algorithms.contains(parsed.algorithm) else"),
    # A link of another resource counts as the next page.
    16: ("IntertwineService/Sync", 'if relations.contains("next"), !hasAnchor {', 'if relations.contains("next"), FAULT || !hasAnchor {'),
    # Keys of requests have no owner, so an erasure of the viewer leaves them.
    17: ("IntertwineService", "owner: viewer.map { Self.owner(of: $0, secret) }, key: key,", "owner: FAULT ? nil : viewer.map { Self.owner(of: $0, secret) }, key: key,"),
    # An editor may take items down.
    18: ("IntertwineService/Operators", "self = route.map(Self.publishing.contains) == true ? .publish : .edit",
         "self = !FAULT && route.map(Self.publishing.contains) == true ? .publish : .edit"),
    # The health check passes if the service is not ready.
    19: ("intertwine", "guard status == 200 else {\n            let detail", "guard status == 200 || FAULT else {\n            let detail"),
    # A photo that the camera turned keeps the wrong size.
    20: ("intertwine-image-worker", "return header.isOnItsSide ? (height, width) : (width, height)", "return header.isOnItsSide && !FAULT ? (height, width) : (width, height)"),
}
