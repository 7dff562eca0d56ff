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
        var line: [UInt8] = []
        line.reserveCapacity(512)
        func write(_ text: String) {
            let isLong = text.utf8.count > Self.textLimit
            line.append(jsonString: (isLong ? String(decoding: text.utf8.prefix(Self.textLimit), as: UTF8.self) + "…" : text).utf8)
        }
        func begin(_ name: String) {
            line.append(UInt8(ascii: line.isEmpty ? "{" : ","))
            write(name)
            line.append(UInt8(ascii: ":"))
        }
        func member(_ name: String, _ text: String) {
            begin(name)
            write(text)
        }
        func commas(before index: Int) { if index > 0 { line.append(UInt8(ascii: ",")) } }
        if let changes {
            begin("changes")
            line.append(UInt8(ascii: "{"))
            for (index, change) in changes.sorted(by: { $0.key < $1.key }).enumerated() {
                commas(before: index)
                write(change.key)
                line += ":\(change.value)".utf8
            }
            line.append(UInt8(ascii: "}"))
        }
        if let id { member("id", id) }
        if let items {
            begin("items")
            line.append(UInt8(ascii: "["))
            for (index, item) in items.enumerated() {
                commas(before: index)
                write(item)
            }
            line.append(UInt8(ascii: "]"))
        }
        member("method", method)
        member("outcome", outcome)
        member("path", path)
        if let status {
            begin("status")
            line += "\(status)".utf8
        }
        member("time", time)
        member("who", who)
        line += "}\n".utf8
        return line
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
    }

    private let state = Mutex(State())
    private let breaksOff: @Sendable () -> Void

    init(breaksOff: @escaping @Sendable () -> Void = {}) {
        self.breaksOff = breaksOff
    }

    package func flushOnFailure() { breaksOff() }

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
