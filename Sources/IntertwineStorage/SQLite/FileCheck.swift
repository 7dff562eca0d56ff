import GRDB
import IntertwineItems
import IntertwineStorageCore
import Synchronization

/// A database file that is checked repeatedly in small steps, from its first page to its last row.
package protocol CheckedFile: Sendable {
    /// Checks a further part of the file, and records damage. One caller at a time.
    func checkSome() async -> CheckStep

    var checkProgress: CheckProgress { get }
}

package struct CheckStep: Sendable {
    /// The number of bytes that were read.
    package var bytes = 0
    /// A Boolean value indicating whether the pass is complete or cannot continue.
    package var isLast = false
}

package struct CheckProgress: Sendable {
    /// The completed share of the current pass, from 0 to 1.
    package var share = 0.0
    /// The number of passes that ended without damage.
    package var passes = 0
    /// A Boolean value indicating whether damage is known, from any detection.
    package var isDamaged = false
}

/// The result of a check of rows.
struct RowsChecked<KeyValue: Sendable>: Sendable {
    /// The key at which the next step begins; nil after the last row.
    var next: [KeyValue]?
    var bytes = 0
    /// The checked share of all rows, from 0 to 1.
    var share = 0.0
    var damage: String?
    /// The keys of rows without a digest, or of the row before them; nil if all rows have one.
    var unsealed: [KeyValue]?
}

/// The progress of a file's check. First the pages of the main file are checked, then the rows of its main table, and then all other tables.
final class FileCheck: Sendable {
    private enum Stage: Sendable {
        /// The next page, numbered from 1, and the number of zero pages before it.
        case pages(Int64, zeros: Int64)
        /// The next key of the main table, which is the items or the events.
        case rows([Int64])
        /// The number of a table in ``TableCheck/names(_:)``, and its last checked key.
        case table(Int, after: [SQLValue])
    }

    private let state: Mutex<(stage: Stage, progress: CheckProgress)>
    /// The key before the first row.
    private let start: [Int64]
    /// A thread of its own.
    ///
    /// Why: the check must take no thread from reads of requests, and must not wait behind them.
    private let thread = ReaderPool(ReadLimits(threads: 1, waiting: 1, queueTimeout: .seconds(60)))

    private static let pagesPerStep: Int64 = 64
    /// The shares of a pass at which the main table and the other tables begin.
    private static let (mainTableStart, otherTablesStart) = (0.5, 0.9)

    init(from start: [Int64]) {
        self.start = start
        state = Mutex((.pages(1, zeros: 0), CheckProgress()))
    }

    var progress: CheckProgress { state.withLock { $0.progress } }

    /// Starts a new pass for another file.
    func restart() {
        state.withLock { ($0.stage, $0.progress.share) = (.pages(1, zeros: 0), 0) }
    }

    /// Continues the pass.
    ///
    /// - Parameters:
    ///   - rows: compares digests of the main table's rows after a key, on a new connection that has no cached pages of the file.
    ///   - seal: writes the digests of its rows that have none.
    ///   - write: runs a transaction.
    func step(
        _ file: FileIdentity, _ connections: ReadConnections,
        rows: @escaping @Sendable (any SQLConnection, _ key: [Int64]) throws -> RowsChecked<Int64>,
        seal: @escaping @Sendable ([Int64], Database) throws -> Void,
        write: (@escaping @Sendable (Database) throws -> Void) async -> Void
    ) async -> CheckStep {
        do {
            switch state.withLock({ $0.stage }) {
            case .pages(let first, let zeros):
                let (damage, bytes) = try await thread.run(for: .background) { [self] in
                    try connections.readAfresh { try checkPages($0, from: first, zeros: zeros) }
                }
                if let damage { file.integrity.note(damage) }
                return CheckStep(bytes: bytes, isLast: damage != nil)
            case .rows(let key):
                let checked = try await thread.run(for: .background) { try connections.readAfresh { try rows($0, key) } }
                if let damage = checked.damage { return Self.damaged(file, damage) }
                if let unsealed = checked.unsealed { await write { try seal(unsealed, $0) } }
                if let next = checked.next {
                    advance(to: .rows(next), Self.mainTableStart + (Self.otherTablesStart - Self.mainTableStart) * min(checked.share, 1))
                } else {
                    advance(to: .table(0, after: []), Self.otherTablesStart)
                }
                return CheckStep(bytes: checked.bytes)
            case .table(let number, let key):
                let checked = try await thread.run(for: .background) {
                    try connections.readAfresh { try Self.checkTable(number, after: key, $0) }
                }
                guard let (table, rows) = checked else {
                    finish()
                    return CheckStep(isLast: true)
                }
                if let damage = rows.damage { return Self.damaged(file, damage) }
                if let unsealed = rows.unsealed { await write { try table.seal(after: unsealed, $0) } }
                advance(
                    to: rows.next.map { .table(number, after: $0) } ?? .table(number + 1, after: []),
                    Self.otherTablesStart + (1 - Self.otherTablesStart) * rows.share)
                return CheckStep(bytes: rows.bytes)
            }
        } catch {
            // The reader records damage; other errors are retried.
            return CheckStep(isLast: true)
        }
    }

    /// Checks rows of a table; nil after the last table.
    private static func checkTable(
        _ number: Int, after key: [SQLValue], _ connection: any SQLConnection
    ) throws -> (table: TableCheck, rows: RowsChecked<SQLValue>)? {
        let names = try TableCheck.names(connection)
        guard names.indices.contains(number) else { return nil }
        let table = try TableCheck(names[number], connection)
        var rows = try table.check(after: key, connection)
        rows.share = Double(number) / Double(names.count)
        return (table, rows)
    }

    private static func damaged(_ file: FileIdentity, _ damage: String) -> CheckStep {
        file.integrity.note(damage)
        return CheckStep(isLast: true)
    }

    private func advance(to stage: Stage, _ share: Double) { state.withLock { ($0.stage, $0.progress.share) = (stage, share) } }

    /// Records the end of the pass.
    private func finish() {
        state.withLock { state in
            state.stage = .pages(1, zeros: 0)
            (state.progress.share, state.progress.passes) = (1, state.progress.passes + 1)
        }
    }

    /// Checks pages of the main file.
    ///
    /// - Returns: a description of the damage, or nil, and the number of bytes that were read.
    private func checkPages(_ connection: any SQLConnection, from first: Int64, zeros: Int64) throws -> (damage: String?, bytes: Int) {
        let file = try DatabaseBytes(connection)
        guard let header = DatabaseHeader(try file.bytes(DatabaseHeader.length, at: 0) ?? []) else {
            return ("its header is overwritten", 0)
        }
        let pages = try file.size() / Int64(header.pageSize)
        let end = min(first + Self.pagesPerStep, pages + 1)
        let checked = try PageCheck(header).check(first..<max(first, end)) { number in
            try file.bytes(header.pageSize, at: (number - 1) * Int64(header.pageSize))
        }
        // SQLite decides about a suspect page, because its part in the file is unknown here.
        if checked.isSuspect, let damage = try Self.structuralDamage(connection) { return (damage, 0) }
        let zeros = zeros + checked.zeros
        if end > pages {
            // Free pages can be zero; other pages cannot.
            if zeros > header.freePages, let damage = try Self.structuralDamage(connection) { return (damage, 0) }
            advance(to: .rows(start), Self.mainTableStart)
        } else {
            advance(to: .pages(end, zeros: zeros), Self.mainTableStart * Double(end - 1) / Double(max(pages, 1)))
        }
        return (nil, Int(max(0, end - first)) * header.pageSize)
    }

    /// Returns SQLite's report on the whole file, which is read at once; nil if the file is sound.
    private static func structuralDamage(_ connection: any SQLConnection) throws -> String? {
        let check = try SQLStatement(connection, "PRAGMA quick_check(1)")
        defer { check.reset() }
        guard try check.step(), check.text(0) != "ok" else { return nil }
        return check.text(0).split(separator: "\n").last.map(String.init) ?? "its structure"
    }
}
