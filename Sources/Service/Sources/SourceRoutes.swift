internal import Feed
internal import Foundation
internal import HTTPServer
internal import HTTPTypes
internal import Storage
internal import Sync

/// `GET /admin/sources`: how the sources are doing. `POST /admin/sources/{name}/sync`: synchronises one now.
struct SourceRoutes: Sendable {
    let polling: SourcePolling

    private struct Answer: Encodable {
        struct Change: Encodable {
            var at: String
            var added: Int
            var changed: Int
            var removed: Int
        }

        /// Of a synchronisation under way.
        struct Progress: Encodable {
            var pages: Int
            var items: Int
            var bytes: Int
        }

        struct Source: Encodable {
            var name: String
            var url: String
            var kind: String
            var every: String
            /// running, waiting, or failing.
            var state: String
            var progress: Progress?
            var lastSuccess: String?
            var lastAttempt: String?
            var nextAttempt: String?
            /// Seconds since the store was last known to be in step.
            var lag: Double
            var items: Int?
            var skipped: Int
            var pages: Int
            var lastChange: Change?
            var lastError: String?
            var failures: Int
        }

        var sources: [Source]
    }

    var routes: [Route] {
        [
            Route(.get, "/admin/sources") { request in
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
                let answer = Answer(sources: polling.sources.compactMap { source($0, now: request.now) })
                return ServerResponse(
                    status: .ok, fields: [.contentType: "application/json", .cacheControl: "no-store"],
                    body: Array(try encoder.encode(answer)))
            },
            Route(.post, "/admin/sources/{name}/sync") { request in
                guard polling.board.wish(request.parameter("name")) else { throw Problem(.notFound, nil, "There is no such source.") }
                return ServerResponse(status: .accepted, fields: [.cacheControl: "no-store"])
            },
        ]
    }

    private func source(_ source: RemoteSource, now: Int64) -> Answer.Source? {
        guard let state = polling.board[source.name] else { return nil }
        let change = state.lastChange.map { at in
            Answer.Change(
                at: Self.text(at), added: state.changes.added, changed: state.changes.changed, removed: state.changes.removed)
        }
        let progress = Answer.Progress(pages: state.progress.pages, items: state.progress.items, bytes: state.progress.bytes)
        return Answer.Source(
            name: source.name, url: source.shownURL, kind: source.kind.name, every: source.interval.setting,
            state: state.isRunning ? "running" : state.failures > 0 ? "failing" : "waiting",
            progress: state.isRunning ? progress : nil,
            lastSuccess: state.lastSuccess.map(Self.text), lastAttempt: state.lastAttempt.map(Self.text),
            nextAttempt: state.nextAttempt.map(Self.text), lag: Double(state.lag(at: now)) / 1_000, items: state.items,
            skipped: state.skipped, pages: state.pages, lastChange: change, lastError: state.lastError, failures: state.failures)
    }

    private static func text(_ milliseconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(milliseconds) / 1_000).formatted(.iso8601)
    }
}
