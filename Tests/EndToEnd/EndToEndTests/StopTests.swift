import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Database files after a clean stop")
struct StopTests {
    @Test("Database files are complete without their write-ahead logs after a stop", arguments: 0..<4)
    func completeFiles(round: Int) async throws {
        try await offPool {
            let service = try RunningService()
            _ = try service.importItems(Items.users(30))
            for number in 0..<3 { #expect(try service.ask("POST", "/cells/user:u\(number)/selection").status == 200) }
            let idle = try RawClient(port: service.port)
            #expect(try RunningService.ask(idle, "GET", "/feed").status == 200)
            service.process.signal(SIGTERM)
            #expect(service.process.wait() == 0)
            let backup = "\(service.folder)/backup"
            try FileManager.default.createDirectory(atPath: backup, withIntermediateDirectories: true)
            for name in ["intertwine.sqlite", "intertwine.ledger.sqlite"] {
                let log = try? FileManager.default.attributesOfItem(atPath: "\(service.folder)/\(name)-wal")
                #expect(log?[.size] as? Int ?? 0 == 0, "\(name)")
                try FileManager.default.copyItem(atPath: "\(service.folder)/\(name)", toPath: "\(backup)/\(name)")
            }
            let options = ["--config", service.configurationFile, "--database", "\(backup)/intertwine.sqlite"]
            #expect(try Command.run(["export", "events"] + options).lines.count == 3)
            let items = "\(service.folder)/items.ndjson"
            try Items.users(31).write(toFile: items, atomically: true, encoding: .utf8)
            #expect(
                try Command.run(["import", "--foreground"] + options + [items]).lines.last?.hasSuffix(": added 1, replaced 30, skipped 0")
                    == true)
        }
    }
}
