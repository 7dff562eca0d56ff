internal import Foundation
internal import Glibc
internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwinePrimitives

struct ConsoleRoutes: Sendable {
    static let system = "/admin/system"

    let auditLog: String
    let polling: SourcePoller
    let settings: @Sendable () -> [ListedSetting]

    private struct Audit: DescribedAnswer {
        struct AuditLine: DescribedAnswer {
            static let notes: [String: PropertyNote] = [
                "time": .init(.time, "The time at which the request or command ended."), "who": "The operator, source or command.",
                "changes": .init(.object([]), "Counts by kind of change."), "items": "The first changed items, as `kind:id`.",
            ]

            var time: String
            var who: String
            var method: String
            var path: String
            var status: Int?
            var outcome: String
            var changes: Counts?
            var items: [String]?
        }

        struct Counts: DescribedAnswer {
            static func described() -> (schema: Schema, value: Counts) { (.object([]), Counts(counts: [:])) }

            var counts: [String: Int]

            init(counts: [String: Int]) { self.counts = counts }

            init(from decoder: any Decoder) throws { counts = try [String: Int](from: decoder) }

            func encode(to encoder: any Encoder) throws { try counts.encode(to: encoder) }
        }

        var entries: [AuditLine]
        var page: ListPage
    }

    private struct System: DescribedAnswer {
        struct SystemSetting: DescribedAnswer {
            var key: String
            var value: String
            var origin: String
        }

        struct SystemProblem: DescribedAnswer {
            static let notes: [String: PropertyNote] = ["runbook": "The section of the runbook."]

            var text: String
            var runbook: String
        }

        static let notes: [String: PropertyNote] = [
            "who": "The name of the operator in the audit log.", "role": .init(.words(OperatorRole.self)),
            "settings": "The settings in force, without secrets.", "problems": "The problems that need an operator now.",
        ]

        var who: String
        var role: String
        var settings: [SystemSetting]
        var problems: [SystemProblem]
    }

    private static func filter(_ name: String, _ text: String, example: String) -> Parameter<String?> {
        Parameter.text(name, .string, text, example: example) { (query) throws(Problem) in try query.text(name) }
    }

    private static let who = filter("who", "A part of the operator's name.", example: #""ann""#)
    private static let item = filter("item", "An item as `kind:id`.", example: #""user:tt""#)
    private static let action = filter("action", "A part of method and path.", example: #""takedowns""#)
    private static let from = filter("from", "The first day, or time, in UTC.", example: #""2026-11-21""#)
    private static let to = filter("to", "The last day, or time, in UTC.", example: #""2026-11-22""#)

    var routes: [Route] {
        let auditing = APIOperation(
            "getAudit", tag: "Audit", "The audit log",
            """
            The writes of operators, sources and commands, the newest first, with the refused ones. One response reads at most 16 MiB of the log: a page \
            can have fewer entries than its limit, and the next one more. The log of other replicas is on their hosts.
            """,
            parameters: [Self.who, Self.item, Self.action, Self.from, Self.to, ListPage.limit, ListPage.cursor],
            responses: [
                .json(
                    .ok, "The entries.", Audit.schema, [.noStore, .nextLink],
                    example: """
                        {"entries": [{"time": "2026-11-22T09:00:00Z", "who": "jwt:ann", "method": "PUT", "path": "/admin/takedowns/user:tt", \
                        "status": 201, "outcome": "done", "changes": {"takenDown": 1}, "items": ["user:tt"]}], \
                        "page": {"limit": 100, "next": null}}
                        """),
                .notModified, .invalidListRequest, .storeUnavailable,
            ])
        let describing = APIOperation(
            "getSystem", tag: "Audit", "The operator and the settings",
            "The role of the operator, the problems that need a look, and the settings in force with their origins.",
            responses: [
                .json(
                    .ok, "The system.", System.schema, [.noStore],
                    example: """
                        {"who": "jwt:ann", "role": "edit", "settings": [{"key": "server.port", "value": "8080", "origin": "default"}], \
                        "problems": [{"text": "The source people fails: 503.", "runbook": "IntertwineSourceBehind"}]}
                        """), .notModified,
            ])
        return [
            Route(.get, "/admin/audit", auditing) { try await audit($0) },
            Route(.get, Self.system, describing) { _ in
                let sender = OperatorIdentity.current
                return try .noStore(
                    json: System(
                        who: sender.name, role: (sender.role ?? .publish).rawValue,
                        settings: settings().map { System.SystemSetting(key: $0.key, value: $0.shown, origin: $0.origin.description) },
                        problems: problems))
            },
        ]
    }

    private var problems: [System.SystemProblem] {
        polling.sources.compactMap { source in
            guard let state = polling.registry[source.name], state.failures > 0 else { return nil }
            return System.SystemProblem(
                text: "The source \(source.name) fails: \(state.lastError ?? "unknown").", runbook: "IntertwineSourceBehind")
        }
    }

    /// One read at a time: each may decode 16 MiB.
    private static let reading = DispatchQueue(label: "intertwine.audit")

    private func audit(_ request: RouteRequest) async throws -> ServerResponse {
        let limit = try request[ListPage.limit]
        let end = try request[ListPage.cursor].map { text throws(Problem) in
            guard let end = Int(text), end >= 0 else { throw ListPage.invalidCursor }
            return end
        }
        let (who, item, action) = (try request[Self.who], try request[Self.item], try request[Self.action])
        let (from, to) = (try request[Self.from], try request[Self.to])
        let isWanted = { @Sendable (entry: AuditEntry) -> Bool in
            (who.map { entry.who.contains($0) } ?? true)
                && (item.map { name in entry.items?.contains(name) == true || entry.path.contains(name) } ?? true)
                && (action.map { "\(entry.method) \(entry.path)".contains($0) } ?? true)
                // A day is the beginning of its times.
                && (from.map { entry.time >= $0 } ?? true) && (to.map { entry.time <= $0 || entry.time.hasPrefix($0) } ?? true)
        }
        let path = auditLog
        let (entries, rest) = try await Self.reading.perform {
            try AuditReader.read(path, before: end, from: from, limit: limit, isWanted)
        }
        let page = ListPage(limit: limit, last: rest.map(String.init), path: request.pathWithoutPage)
        let lines = entries.map {
            Audit.AuditLine(
                time: $0.time, who: $0.who, method: $0.method, path: $0.path, status: $0.status, outcome: $0.outcome,
                changes: $0.changes.map(Audit.Counts.init), items: $0.items)
        }
        return try page.response(Audit(entries: lines, page: page))
    }
}

extension RouteRequest {
    /// The path with its query, without the parameters of ``ListPage``.
    var pathWithoutPage: String {
        let parts = (head.path ?? "").split(separator: "?", maxSplits: 1)
        let pairs = parts.dropFirst().flatMap { $0.split(separator: "&") }.filter {
            !$0.hasPrefix("cursor=") && !$0.hasPrefix("limit=")
        }
        return "\(parts.first ?? "")\(pairs.isEmpty ? "" : "?")\(pairs.joined(separator: "&"))"
    }
}

private enum AuditReader {
    private static let (step, most) = (256 << 10, 16 << 20)

    /// Returns entries of the file before an offset, the newest first, and the offset at which they end; nil at the beginning of the file.
    ///
    /// An action has two lines, of which the second has its outcome.
    static func read(
        _ path: String, before end: Int?, from: String?, limit: Int, _ isWanted: (AuditEntry) -> Bool
    ) throws -> (entries: [AuditEntry], rest: Int?) {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw StoreError.unavailable("\(path): \(OwnedFile.reason(path))") }
        defer { close(file) }
        let size = Int(lseek(file, 0, SEEK_END))
        var (entries, ended) = ([AuditEntry](), Set<String>())
        var start = min(end ?? size, size)
        let first = max(0, start - most)
        // The end of an action whose begin is on this page may be on the page before.
        for line in FileIO.read(file, min(step, size - start), at: start).split(separator: UInt8(ascii: "\n")) {
            guard let entry = try? JSONDecoder().decode(AuditEntry.self, from: Data(line)), entry.outcome != "begun" else { continue }
            if let id = entry.id { ended.insert(id) }
        }
        var tail: [UInt8] = []
        while start > first {
            let count = min(step, start - first)
            start -= count
            var bytes = FileIO.read(file, count, at: start) + tail
            // The first line is complete at the beginning of the file alone.
            let cut = start == 0 ? 0 : (bytes.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? bytes.count)
            tail = Array(bytes[..<cut])
            bytes.removeFirst(cut)
            var offset = start + cut + bytes.count
            for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).reversed() {
                offset -= line.count + 1
                guard let entry = try? JSONDecoder().decode(AuditEntry.self, from: Data(line)) else { continue }
                // Entries are in the order of their times.
                if let from, entry.time < from { return (entries, nil) }
                if let id = entry.id, !ended.insert(id).inserted { continue }
                guard isWanted(entry) else { continue }
                entries.append(entry)
                if entries.count == limit { return (entries, offset + 1 > 0 ? offset + 1 : nil) }
            }
        }
        return (entries, start > 0 ? start + tail.count : nil)
    }
}
