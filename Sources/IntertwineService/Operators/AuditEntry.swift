internal import Foundation
internal import IntertwineHTTPServer
internal import IntertwineImages
internal import IntertwinePrimitives
package import IntertwineStorage
internal import Synchronization

/// A line of the audit log: the operator, the request or command, its outcome and its changes.
struct AuditEntry: Codable, Sendable, Hashable {
    /// The maximum number of bytes of a text. Why: a client chooses the length of its path.
    static let textLimit = 1_024

    /// The time at which the request or command began or ended, RFC 3339 in UTC.
    var time: String
    var who: String
    var method: String
    var path: String
    var status: Int?
    var outcome: String
    var changes: [String: Int]?
    var items: [String]?
    var id: String?

    init(who: String, method: String, path: String, outcome: String, now: Int64) {
        (self.who, self.method, self.path, self.outcome) = (who, method, path, outcome)
        time = Timestamp.text(milliseconds: now)
    }

    func ended(_ outcome: String, _ now: Int64) -> AuditEntry {
        var entry = AuditEntry(who: who, method: method, path: path, outcome: outcome, now: now)
        entry.id = id
        return entry
    }

    /// The encoded line with its line end. Why: Foundation's encoder takes as long as writing an item to the store.
    var line: [UInt8] {
        func text(_ text: String) -> JSONValue {
            .text(text.utf8.count > Self.textLimit ? String(decoding: text.utf8.prefix(Self.textLimit), as: UTF8.self) + "…" : text)
        }
        let counts = changes?.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, .integer(Int64($0.value))) }
        let members: [JSONValue.Member?] = [
            counts.map { .init("changes", .object($0)) }, id.map { .init("id", text($0)) },
            items.map { .init("items", .list($0.map(text))) }, .init("method", text(method)), .init("outcome", text(outcome)),
            .init("path", text(path)), status.map { .init("status", .integer(Int64($0))) }, .init("time", text(time)),
            .init("who", text(who)),
        ]
        return JSONValue.object(members.compactMap { $0 }).json + "\n".utf8
    }

    /// URLs in the query lose their own query, because keys are often stored there.
    static func shown(_ target: String) -> String {
        // The text is split by bytes, because HTTP does not use grapheme clusters.
        guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return target }
        let query = target[target.utf8.index(after: mark)...]
        guard !query.isEmpty else { return target }
        let pairs = query.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).map { shown(pair: Substring($0)) }
        return target[..<query.startIndex] + pairs.joined(separator: "&")
    }

    private static func shown(pair: Substring) -> String {
        let start = pair.utf8.firstIndex(of: UInt8(ascii: "=")).map { pair.utf8.index(after: $0) } ?? pair.startIndex
        guard let value = PercentCoding.decode(pair[start...]) else { return pair[..<start] + "…" }
        guard value.utf8.contains(UInt8(ascii: ":")) || value.utf8.contains(UInt8(ascii: "@")) else { return String(pair) }
        guard let url = try? FetchURL(value).text else { return pair[..<start] + "…" }
        return pair[..<start] + (url.utf8.firstIndex(of: UInt8(ascii: "?")).map { url[..<$0] + "?…" } ?? url)
    }
}

/// Collects the changes of a request or command for its line in the audit log.
package final class AuditContext: Sendable {
    package static let itemLimit = 100

    @TaskLocal static var current: AuditContext?

    private struct State {
        var changes: [String: Int] = [:]
        var items: [String] = []
        var begun: AuditEntry?
        var hasChecked = false
    }

    private let state = Mutex(State())
    private let begins: (@Sendable () async throws -> AuditEntry)?

    init(begins: (@Sendable () async throws -> AuditEntry)? = nil) {
        self.begins = begins
    }

    /// Routes call it when they have checked the request, and before they change anything. Why: a client chooses how many invalid requests it
    /// sends, and an action has two lines.
    ///
    /// - Parameter hasChecked: True if only a write beside this one can make the store find that a condition is not met.
    static func begin(hasChecked: Bool = false) async throws {
        guard let context = current, let begins = context.begins else { return }
        let entry = try await begins()
        context.state.withLock { ($0.begun, $0.hasChecked) = (entry, hasChecked) }
    }

    /// True for the status of a refusal that a client can repeat without a write that succeeds.
    func isRefusal(_ status: Int) -> Bool {
        guard status >= 400 else { return false }
        return !state.withLock { $0.hasChecked } || ![404, 412, 428].contains(status)
    }

    var begun: AuditEntry? { state.withLock { $0.begun } }

    package func record(_ changes: [String: Int], items: some Sequence<String> = EmptyCollection()) {
        state.withLock { state in
            state.changes.merge(changes, uniquingKeysWith: +)
            state.items += items.prefix(Self.itemLimit - state.items.count)
        }
    }

    package func record(_ summary: ImportSummary) {
        record(
            ["added": summary.added, "replaced": summary.replaced, "skipped": summary.skipped, "withheld": summary.withheld.count].filter {
                $0.value > 0
            }, items: summary.first.map(\.description))
    }

    package func record(_ outcome: SourceOutcome) {
        guard let changes = outcome.changes, !changes.isEmpty else { return }
        record(["added": changes.added, "replaced": changes.changed, "removed": changes.removed, "released": changes.released])
    }

    func add(to entry: inout AuditEntry) {
        let state = state.withLock { $0 }
        guard !state.changes.isEmpty else { return }
        entry.changes = state.changes
        entry.items = state.items.isEmpty ? nil : state.items
    }
}
