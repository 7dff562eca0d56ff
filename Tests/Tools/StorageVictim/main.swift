import Foundation
import IntertwineFeed
import IntertwineStorage
import Synchronization

// A process for tests that need another one than their own, most of them to kill it:
//   StorageVictim import DATABASE FILE      imports a file, prints how many items it has read, and at the end "committed"
//   StorageVictim put DATABASE COUNT        puts so many users into the store one by one, and prints "put"
//   StorageVictim open KIND DATABASE       opens the items, or the ledger, as KIND says, and prints "open"
//   StorageVictim viewers LEDGER COUNT      commits the clicks of so many viewers, none of them twice, and prints its anonymous memory in KiB
//                                           after each eighth. The clock runs a thousand times as fast.
//   StorageVictim commit LEDGER ROUND       commits clicks from 64 tasks without end, and prints the id of each that is acknowledged

func importFile(_ database: String, _ path: String) throws {
    guard let file = FileHandle(forReadingAtPath: path) else { return }
    let session = try ItemImport(into: database, policy: .skip)
    try session.add(contentsOf: file.fileDescriptor) { say("\($0.items)") }
    _ = try session.commit()
    say("committed")
}

func put(_ database: String, _ count: Int) async throws {
    let store = try SQLiteStore(path: database)
    for number in 0..<count {
        let fields = #"{"kind":"user","username":"other \#(number)","avatarUrl":"https://example.com/a.png","type":"regular"}"#
        _ = try await store.put(ItemKinds.standard.validate(Array(fields.utf8)))
    }
    say("put")
}

func commit(_ path: String, _ round: String) async throws {
    let ledger = try SQLiteLedger(path: path)
    try await withThrowingTaskGroup(of: Void.self) { group in
        for client in 0..<64 {
            group.addTask {
                for number in 0... {
                    let id = "\(round)-\(client)-\(number)"
                    let click = LedgerEvent(at: SQLiteLedger.systemTime(), kind: .click, cell: "ad:1", viewer: id)
                    let selection = CommandRecord(id: id, cell: "ad:1", viewer: id, steps: [], expires: .max)
                    _ = try await ledger.commit(LedgerEntry(events: [click], selection: selection))
                    say(id)
                }
            }
        }
        try await group.waitForAll()
    }
}

final class FastClock: Sendable {
    private let moment = Mutex(SQLiteLedger.systemTime())

    var now: Int64 { moment.withLock { $0 } }

    func advance() -> Int64 {
        moment.withLock { moment in
            moment += 20
            return moment
        }
    }
}

func viewers(_ path: String, _ count: Int) async throws {
    let clock = FastClock()
    let ledger = try SQLiteLedger(path: path, now: { clock.now })
    for part in 0..<8 {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in 0..<32 {
                group.addTask {
                    for number in stride(from: client, to: count / 8, by: 32) {
                        let name = "viewer-\(part)-\(number)"
                        let event = LedgerEvent(
                            at: clock.advance(), kind: .click, cell: "ad:1", viewer: name, address: "192.0.2.0", userAgent: "agent",
                            deduplication: .init(keys: [name, "n" + name], repeats: [name, "d" + name], window: 30_000),
                            rates: [.init(key: "v" + name, limit: 60, window: 60_000), .init(key: "a" + name, limit: 60, window: 60_000)])
                        _ = try await ledger.commit(LedgerEntry(events: [event]))
                    }
                }
            }
            try await group.waitForAll()
        }
        _ = try await ledger.report(days: 0...100_000, by: .day)
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") } ?? ""
        say(String(line.split(whereSeparator: \.isWhitespace)[1]))
    }
}

/// One write for each line, so that a kill never cuts one off that another process was meant to see.
func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

let arguments = CommandLine.arguments
if arguments.count == 4 {
    switch arguments[1] {
    case "import": try importFile(arguments[2], arguments[3])
    case "put": try await put(arguments[2], Int(arguments[3]) ?? 0)
    case "open":
        if arguments[2] == "items" { _ = try SQLiteStore(path: arguments[3]) } else { _ = try SQLiteLedger(path: arguments[3]) }
        say("open")
    case "viewers": try await viewers(arguments[2], Int(arguments[3]) ?? 0)
    case "commit": try await commit(arguments[2], arguments[3])
    default: exit(64)
    }
}
