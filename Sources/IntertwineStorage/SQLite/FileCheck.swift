import GRDB
import IntertwineFeed
import Synchronization

/// A database file that is checked from its first page to its last row, again and again, a little at a time.
package protocol CheckedFile: Sendable {
    /// Checks some more of the file, and takes note of damage. One caller at a time.
    func checkSome() async -> CheckStep

    var checkProgress: CheckProgress { get }
}

package struct CheckStep: Sendable {
    /// Bytes that were read.
    package var bytes = 0
    /// Whether the pass is over, or cannot go on.
    package var isLast = false
}

package struct CheckProgress: Sendable {
    /// How much of the current pass is done, from 0 to 1.
    package var share = 0.0
    /// Passes that came to their end without finding damage.
    package var passes = 0
    /// Whether damage is known, however it was found.
    package var isDamaged = false
}

/// What a step found among rows.
struct RowsChecked<Seals: Sendable>: Sendable {
    /// Where the next step begins; nil behind the last row.
    var next: [Int64]?
    var bytes = 0
    /// How many of all rows are done, from 0 to 1.
    var share = 0.0
    var damage: String?
    /// Rows that have no digest yet; nil if all have one.
    var unsealed: Seals?
}

/// How far the check of a file is. First the pages of the main file are looked at, then the digests of rows are compared.
final class FileCheck: Sendable {
    private enum Stage: Sendable {
        /// From a page on, counted from 1, and how many before it are zero.
        case pages(Int64, zeros: Int64)
        /// From a key on.
        case rows([Int64])
    }

    private let state: Mutex<(stage: Stage, progress: CheckProgress)>
    /// Before the first row.
    private let start: [Int64]

    private static let pagesPerStep: Int64 = 64

    init(from start: [Int64]) {
        self.start = start
        state = Mutex((.pages(1, zeros: 0), CheckProgress()))
    }

    var progress: CheckProgress { state.withLock { $0.progress } }

    /// Begins a pass anew, with another file.
    func restart() {
        state.withLock { ($0.stage, $0.progress.share) = (.pages(1, zeros: 0), 0) }
    }

    /// Goes on with the pass.
    ///
    /// - Parameters:
    ///   - rows: compares digests of the rows behind a key, on a new connection, which has nothing of the file in memory.
    ///   - seal: writes the digests of rows that have none.
    func step<Seals: Sendable>(
        _ file: FileIdentity, _ threads: ReaderPool, _ connections: ReadConnections,
        rows: @escaping @Sendable (any SQLConnection, _ key: [Int64]) throws -> RowsChecked<Seals>, seal: (Seals) async -> Void
    ) async -> CheckStep {
        do {
            switch state.withLock({ $0.stage }) {
            case .pages(let first, let zeros):
                let (damage, bytes) = try await threads.run(for: .background) { [self] in
                    try connections.readAfresh { try checkPages($0, from: first, zeros: zeros) }
                }
                if let damage { file.integrity.note(damage) }
                return CheckStep(bytes: bytes, isLast: damage != nil)
            case .rows(let key):
                let checked = try await threads.run(for: .background) { try connections.readAfresh { try rows($0, key) } }
                if let damage = checked.damage {
                    file.integrity.note(damage)
                    return CheckStep(isLast: true)
                }
                if let unsealed = checked.unsealed { await seal(unsealed) }
                return CheckStep(bytes: checked.bytes, isLast: note(checked))
            }
        } catch {
            // Whoever reads notes damage; all else is tried again.
            return CheckStep(isLast: true)
        }
    }

    /// Looks at pages of the main file.
    ///
    /// - Returns: what is damaged, if anything, and the bytes that were read.
    private func checkPages(_ connection: any SQLConnection, from first: Int64, zeros: Int64) throws -> (damage: String?, bytes: Int) {
        let file = try DatabaseBytes(connection)
        guard let header = DatabaseHeader(try file.bytes(DatabaseHeader.length, at: 0) ?? []) else {
            return ("its header is overwritten", 0)
        }
        let pages = try file.size() / Int64(header.pageSize)
        let end = min(first + Self.pagesPerStep, pages + 1)
        var zeros = zeros
        for number in first..<max(first, end) {
            guard let page = try file.bytes(header.pageSize, at: (number - 1) * Int64(header.pageSize)) else { break }
            if page.allSatisfy({ $0 == 0 }) { zeros += 1 }
            if !Self.isSound(page, headerAt: number == 1 ? DatabaseHeader.length : 0, pages: header.pages) {
                if let damage = try Self.structuralDamage(connection) { return (damage, 0) }
            }
        }
        if end > pages {
            // Free pages are zero, and others are not.
            if zeros > header.freePages, let damage = try Self.structuralDamage(connection) { return (damage, 0) }
            state.withLock { ($0.stage, $0.progress.share) = (.rows(start), 0.5) }
        } else {
            state.withLock { ($0.stage, $0.progress.share) = (.pages(end, zeros: zeros), 0.5 * Double(end - 1) / Double(max(pages, 1))) }
        }
        return (nil, Int(max(0, end - first)) * header.pageSize)
    }

    /// Notes how far the rows are.
    ///
    /// - Returns: whether the pass is over.
    private func note<Seals>(_ rows: RowsChecked<Seals>) -> Bool {
        state.withLock { state in
            if let next = rows.next {
                (state.stage, state.progress.share) = (.rows(next), 0.5 + 0.5 * min(rows.share, 1))
                return false
            }
            state.stage = .pages(1, zeros: 0)
            (state.progress.share, state.progress.passes) = (1, state.progress.passes + 1)
            return true
        }
    }

    /// Whether a page can be one of a b-tree, of overflow, or free. Damage that it takes for sound is for the digests.
    private static func isSound(_ page: [UInt8], headerAt start: Int, pages: Int64) -> Bool {
        func number(_ place: Int) -> Int { Int(page[place]) << 8 | Int(page[place + 1]) }
        let headerLength: Int
        switch page[start] {
        case 2, 5: headerLength = 12
        case 10, 13: headerLength = 8
        // The number of the next page.
        default: return page[0..<4].reduce(0) { $0 << 8 | Int64($1) } <= pages
        }
        let content = number(start + 5) == 0 ? 65_536 : number(start + 5)
        return start + headerLength + 2 * number(start + 3) <= content && content <= page.count
    }

    /// What SQLite says of the whole file, read at once; nil if it is sound.
    private static func structuralDamage(_ connection: any SQLConnection) throws -> String? {
        let check = try SQLStatement(connection, "PRAGMA quick_check(1)")
        defer { check.reset() }
        guard try check.step(), check.text(0) != "ok" else { return nil }
        return check.text(0).split(separator: "\n").last.map(String.init) ?? "its structure"
    }
}
