import Foundation
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwineStorage

@Suite("Size of the write-ahead log")
struct LogSizeTests {
    /// The limit of 64 MiB, and what a busy machine writes while an attempt to restart the log waits. Without restarts, the test writes 600 MB.
    private static let bound = 200 << 20

    /// Starts a process that reads a database in transactions of 50 ms, one after the other, for 200 s at most.
    private static func reader(of path: String, _ script: String) throws -> Process {
        let reader = Process()
        reader.executableURL = URL(fileURLWithPath: "/usr/bin/sqlite3")
        reader.arguments = ["-cmd", ".timeout 5000", path]
        reader.standardInput = FileHandle(forReadingAtPath: script)
        reader.standardOutput = FileHandle.nullDevice
        try reader.run()
        return reader
    }

    @Test("Constant reads and writes do not let the write-ahead log of the ledger grow without bound", .timeLimit(.untilStuck))
    func constantLoad() throws {
        let scratch = try Scratch()
        let ledger = try scratch.ledger()
        // The reads overlap, so that the log is in use at any time.
        let reads = String(repeating: "BEGIN; SELECT count(*) FROM event;\n.system sleep 0.05\nCOMMIT;\n", count: 4_000)
        let script = try scratch.write(reads, to: "reads.sql")
        let readers = try (0..<6).map { _ in try Self.reader(of: scratch.path("ledger.sqlite"), script) }
        defer { for reader in readers { kill(reader.processIdentifier, SIGKILL) } }
        for number in 0..<16_000 {
            let now = SQLiteLedger.systemTime()
            let offers = Dictionary(uniqueKeysWithValues: (0..<100).map { ("campaign \(number) \($0)", 1 as Int64) })
            _ = try ledger.refresh(adding: offers, [], now: now)
            guard number % 500 == 0 else { continue }
            let size = try scratch.size("ledger.sqlite-wal")
            try #require(size < Self.bound, "\(size) bytes after \(number) transactions")
        }
    }
}
