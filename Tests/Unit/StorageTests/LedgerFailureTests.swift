import Foundation
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwineStorage

@Suite("Ledger during failures")
struct LedgerFailureTests {
    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    @Test("A ledger locked by another process waits or fails as unavailable, and recovers")
    func locked() async throws {
        let path = scratch.path("ledger.sqlite")
        let ledger = try SQLiteLedger(path: path, lockTimeout: 0.1)
        _ = try await ledger.commit(click("before"))
        let other = try Program.lock(path)
        await #expect(throws: StoreError.self) { try await ledger.commit(click("during")) }
        #expect(try await ledger.events(after: 0, limit: 9).map(\.event.viewer) == ["before"])
        try other.release()
        _ = try await ledger.commit(click("after"))
        #expect(try await ledger.events(after: 0, limit: 9).map(\.event.viewer) == ["before", "after"])
    }

    @Test("The total wait of a unit for a locked file is bounded, also behind other groups")
    func lockedForMany() async throws {
        let path = scratch.path("ledger.sqlite")
        let ledger = try SQLiteLedger(path: path, group: 1, lockTimeout: 1)
        let other = try Program.lock(path)
        let start = ContinuousClock.now
        let failures = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<12 {
                let entry = click("\(number)")
                group.addTask { await #expect(throws: StoreError.self) { try await ledger.commit(entry) } != nil }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        // Each for itself would take twelve seconds.
        let waited = start.duration(to: .now)
        #expect(failures == 12)
        #expect(waited < MachineSpeed.bound(.seconds(6)))
        try other.release()
        _ = try await ledger.commit(click("after"))
        #expect(try await ledger.events(after: 0, limit: 9).map(\.event.viewer) == ["after"])
    }

    @Test("Beyond the queue limit units are rejected as overloaded, and the others are written")
    func overloaded() async throws {
        let ledger = try SQLiteLedger(path: scratch.path("ledger.sqlite"), waiting: 8)
        let outcomes = await withTaskGroup(of: String.self) { group in
            for number in 0..<400 {
                let entry = click("\(number)")
                group.addTask {
                    do {
                        _ = try await ledger.commit(entry)
                        return "committed"
                    } catch StoreError.overloaded {
                        return "overloaded"
                    } catch {
                        return "\(error)"
                    }
                }
            }
            return await group.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
        }
        let committed = outcomes["committed"] ?? 0
        #expect(committed >= 8 && committed + (outcomes["overloaded"] ?? 0) == 400, "\(outcomes)")
        #expect(try await ledger.events(after: 0, limit: 999).count == committed)
    }

    @Test("On a full disk the ledger fails as unavailable, keeps acknowledged events, and recovers", .mounts)
    func full() async throws {
        let mount = try Mount.small(scratch.folder, kibibytes: 1_024)
        defer { mount.remove() }
        let ledger = try scratch.ledger()
        try Data(count: 200_000).write(to: URL(fileURLWithPath: scratch.path("ballast")))
        var acknowledged: [String?] = []
        var failure: (any Error)?
        while failure == nil, acknowledged.count < 5_000 {
            do {
                _ = try await ledger.commit(click("\(acknowledged.count)"))
                acknowledged.append("\(acknowledged.count)")
            } catch {
                failure = error
            }
        }
        guard case .unavailable? = failure as? StoreError else {
            Issue.record("\(String(describing: failure)) after \(acknowledged.count)")
            return
        }
        #expect(acknowledged.count > 10)
        #expect(try await ledger.events(after: 0, limit: 9_999).map(\.event.viewer) == acknowledged)
        try FileManager.default.removeItem(atPath: scratch.path("ballast"))
        _ = try await ledger.commit(click("after"))
        #expect(try await ledger.events(after: 0, limit: 9_999).map(\.event.viewer) == acknowledged + ["after"])
    }

    @Test("A kill at any time loses no acknowledged event and doubles none")
    func killed() async throws {
        var generator = SeededRandom(seed: 11)
        var acknowledged: [String] = []
        for round in 0..<20 {
            let victim = try Program.victim("commit", scratch.path("ledger.sqlite"), "\(round)")
            for _ in 0..<Int.random(in: 1...800, using: &generator) {
                acknowledged.append(try #require(victim.line()))
            }
            victim.kill()
            while let line = victim.line() { acknowledged.append(line) }
        }
        let ledger = try scratch.ledger()
        let viewers = try await ledger.events(after: 0, limit: .max).compactMap(\.event.viewer)
        #expect(Set(viewers).count == viewers.count)
        #expect(Set(viewers).isSuperset(of: acknowledged))
        #expect(acknowledged.count > 1_000)
        // The events and the selections of one unit are there together.
        #expect(try scratch.sqlite("ledger.sqlite", "SELECT count(*) FROM selection") == "\(viewers.count)")
        #expect(try scratch.sqlite("ledger.sqlite", "SELECT sum(count) FROM rollup_day") == "\(viewers.count)")
        #expect(try scratch.sqlite("ledger.sqlite", "PRAGMA integrity_check") == "ok")
    }
}
