internal import Foundation
internal import IntertwineFeed
internal import IntertwineFetch
internal import IntertwinePrimitives
internal import IntertwineRouting
public import IntertwineStorage
public import IntertwineSync
internal import Synchronization

/// A line of the audit log: who tried to change what, how it ended, and what was changed.
public struct AuditEntry: Codable, Sendable, Hashable {
    /// When it was over, RFC 3339 in UTC.
    public var time: String
    /// Whoever it was: `loopback`, the beginning of a token's digest, or who ran a command.
    public var who: String
    /// The request's method, or the command's name.
    public var method: String
    /// The request's target, or what the command was given.
    public var path: String
    /// The answer's; nil where it was no request.
    public var status: Int?
    /// `done`, why not, or that nobody knows.
    public var outcome: String
    /// How many items were changed in which way, by the name of the way; nil where nothing was changed.
    public var changes: [String: Int]?
    /// The items of them all, `klass:id` each, up to ``AuditContext/itemLimit``.
    public var items: [String]?
    /// Tells the entry from all others; nil where nothing was begun.
    public var id: String?

    /// - Parameter now: milliseconds since 1970-01-01 UTC.
    public init(who: String, method: String, path: String, outcome: String, now: Int64) {
        (self.who, self.method, self.path, self.outcome) = (who, method, path, outcome)
        time = Timestamp.text(milliseconds: now)
    }

    /// The same where it tells no more than that something is being done.
    var begun: AuditEntry {
        var entry = self
        entry.outcome = "begun"
        return entry
    }

    /// The line, its end included. Written by hand: Foundation's encoder takes as long as writing an item to the store.
    var line: [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(512)
        func write(_ text: String) { line.append(jsonString: text.utf8) }
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

    /// The target of a request as it may be kept: URLs in its query without theirs, where keys are often kept, and whatever is no URL that is
    /// fetched from (one with a user and a password is none) not at all.
    static func shown(_ target: String) -> String {
        let query = RequestPath(target).query
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

/// Where whoever changes something says what it was, for the line that the audit log has of it.
public final class AuditContext: Sendable {
    /// Items that a line names; the rest is counted.
    public static let itemLimit = 100

    /// That of the request which is being answered; nil where none is kept of it.
    @TaskLocal static var current: AuditContext?

    private struct State {
        var changes: [String: Int] = [:]
        var items: [String] = []
    }

    private let state = Mutex(State())
    private let breaksOff: @Sendable () -> Void

    /// - Parameter breaksOff: has the line say that nothing was done, on disk when it is back.
    init(breaksOff: @escaping @Sendable () -> Void = {}) {
        self.breaksOff = breaksOff
    }

    /// Has the line be there now, and say that nothing was done. For a command that is interrupted: it blocks, and the process ends behind it.
    public func flushOnFailure() { breaksOff() }

    /// - Parameters:
    ///   - changes: how many items were changed, by the name of what was done to them.
    ///   - items: which, `klass:id` each, as far as that is known.
    public func record(_ changes: [String: Int], items: some Sequence<String> = EmptyCollection()) {
        state.withLock { state in
            state.changes.merge(changes, uniquingKeysWith: +)
            state.items += items.prefix(Self.itemLimit - state.items.count)
        }
    }

    /// What an import did.
    public func record(_ summary: ImportSummary) {
        record(
            ["added": summary.added, "replaced": summary.replaced, "skipped": summary.skipped, "withheld": summary.withheld.count].filter {
                $0.value > 0
            }, items: summary.first.map(\.description))
    }

    /// What a synchronisation did.
    public func record(_ outcome: SourceOutcome) {
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
