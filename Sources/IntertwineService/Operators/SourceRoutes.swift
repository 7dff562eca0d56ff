internal import Foundation
internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwinePrimitives
internal import IntertwineStorage

struct SourceRoutes: Sendable {
    let polling: SourcePoller

    private struct Sources: DescribedAnswer {
        struct Change: DescribedAnswer {
            static let notes: [String: PropertyNote] = ["at": .init(.time)]

            var at: String
            var added: Int
            var changed: Int
            var removed: Int
        }

        struct Progress: DescribedAnswer {
            var pages: Int
            var items: Int
            var bytes: Int
        }

        struct Source: DescribedAnswer {
            static let notes: [String: PropertyNote] = [
                "url": "The URL without its query, which often has a key.",
                "state": .init(.words(["running", "waiting", "failing"])),
                "progress": "The progress of the running synchronization.",
                "lastSuccess": .init(.time), "lastAttempt": .init(.time), "nextAttempt": .init(.time),
                "lag": "Seconds since the store was last known to be in sync.",
                "omittedValues": "The number of invalid values of optional fields that items lack.",
                "invalid": .init(.list(of: .string, maximum: 10), "The first of the skipped items and omitted values."),
                "withheld": "The number of items that the last synchronization omitted because they are taken down.",
                "withheldItems": .init(.list(of: .string, maximum: 20), "The first of these items, as `kind:id`."),
                "failures": "The number of consecutive failures.",
            ]

            var name: String
            var url: String
            var kind: String
            var every: String
            var state: String
            var progress: Progress?
            var lastSuccess: String?
            var lastAttempt: String?
            var nextAttempt: String?
            var lag: Double
            var items: Int?
            var skipped: Int
            var omittedValues: Int
            var invalid: [String]
            var pages: Int
            var withheld: Int
            var withheldItems: [String]
            var lastChange: Change?
            var lastError: String?
            var failures: Int
        }

        var sources: [Source]
        var page: ListPage
    }

    private static let name = Parameter.segment("name", .string(minLength: 1), "The name of the source.", example: #""people""#)

    var routes: [Route] {
        let reading = APIOperation(
            "getSources", tag: "Sources", "The state of the remote sources", "The sources, sorted by name.",
            parameters: [ListPage.limit, ListPage.cursor],
            responses: [
                .json(
                    .ok, "The sources.", Sources.schema, [.noStore, .nextLink],
                    example: """
                        {"sources": [{"name": "people", "url": "https://api.example.com/people?…", "kind": "user", "every": "5m", \
                        "state": "waiting", "lastSuccess": "2026-11-21T09:00:00Z", "lastAttempt": "2026-11-21T09:00:00Z", \
                        "nextAttempt": "2026-11-21T09:05:00Z", "lag": 12.5, "items": 376, "skipped": 0, "omittedValues": 0, "invalid": [], "pages": 4, \
                        "withheld": 0, "withheldItems": [], \
                        "lastChange": {"at": "2026-11-21T09:00:00Z", "added": 1, "changed": 0, "removed": 0}, "failures": 0}], \
                        "page": {"limit": 100, "next": null}}
                        """),
                .notModified,
                .invalidListRequest,
            ])
        let wishing = APIOperation(
            "syncSource", tag: "Sources", "Synchronize a source now", "All its items are compared with the store.", parameters: [Self.name],
            responses: [
                .empty(.accepted, "The synchronization is scheduled.", [.noStore]), .forbidden,
                .problem(.notFound, "There is no such source.", [.init(nil, "There is no such source.")]), .storeUnavailable,
            ])
        return [
            Route(.get, "/admin/sources", reading) { request in
                let (shown, page) = try ListPage.page(of: polling.sources, for: request, path: "/admin/sources", key: \.name)
                return try page.response(Sources(sources: shown.compactMap { source($0, now: request.now) }, page: page))
            },
            Route(.post, "/admin/sources/{name}/sync", wishing) { request in
                let name = try request[Self.name]
                guard polling.registry[name] != nil else { throw Problem(.notFound, nil, "There is no such source.") }
                try await AuditContext.begin()
                _ = polling.registry.requestSync(name)
                return ServerResponse(status: .accepted, fields: [.cacheControl: "no-store"])
            },
        ]
    }

    private func source(_ source: RemoteSource, now: Int64) -> Sources.Source? {
        guard let state = polling.registry[source.name] else { return nil }
        let change = state.lastChange.map { at in
            Sources.Change(
                at: Timestamp.text(milliseconds: at), added: state.changes.added, changed: state.changes.changed,
                removed: state.changes.removed)
        }
        let progress = Sources.Progress(pages: state.progress.pages, items: state.progress.items, bytes: state.progress.bytes)
        return Sources.Source(
            name: source.name, url: source.shownURL, kind: source.kind.name, every: source.interval.setting,
            state: state.isRunning ? "running" : state.failures > 0 ? "failing" : "waiting",
            progress: state.isRunning ? progress : nil,
            lastSuccess: state.lastSuccess.map(Timestamp.text(milliseconds:)),
            lastAttempt: state.lastAttempt.map(Timestamp.text(milliseconds:)),
            nextAttempt: state.nextAttempt.map(Timestamp.text(milliseconds:)), lag: Double(state.lag(at: now)) / 1_000, items: state.items,
            skipped: state.skipped, omittedValues: state.omittedValues, invalid: state.invalid, pages: state.pages,
            withheld: state.withheld.count,
            withheldItems: state.withheld.items.map(\.description), lastChange: change, lastError: state.lastError, failures: state.failures
        )
    }
}
