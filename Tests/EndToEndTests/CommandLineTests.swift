import Foundation
import Glibc
import TestSupport
import Testing

@Suite("The command line, from outside")
struct CommandLineTests {
    private let folder: String
    private var options: [String] { ["--config", "/dev/null", "--database", "\(folder)/x.sqlite"] }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    /// Runs the program through the shell, which sees it as `"$0" "$@"`.
    private static func shell(_ script: String, _ arguments: [String] = []) throws -> (code: Int32, lines: [String]) {
        let process = try SpawnedProcess(["/bin/sh", "-c", script, BuiltProduct.path("intertwine")] + arguments)
        while try process.nextLine(timeout: 60_000) != nil {}
        return (process.wait(), process.lines)
    }

    @Test("check-config refuses what the service would not start with, with the setting's name")
    func checkConfig() async throws {
        try await offPool {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            for (setting, words) in [
                ("actions.user.selection=fly", "actions.user.selection: unknown command 'fly'"),
                ("events.viewer-header=", "needs a viewer"), ("feed.kinds=/nonexistent.yaml", "feed.kinds: /nonexistent.yaml"),
                ("sources.file=/nonexistent.yaml", "sources.file: /nonexistent.yaml"),
            ] {
                let result = try Command.run(["check-config"] + options + ["--set", setting])
                #expect(result.code == 1 && result.lines.count == 1 && result.lines[0].contains(words), "\(result.lines)")
                let served = try Command.run(["serve", "--port", "0", "--admin-port", "0"] + options + ["--set", setting])
                #expect(served.code == 1 && served.lines == result.lines, "\(served.lines)")
            }
            #expect(try Command.run(["check-config"] + options).code == 0)
        }
    }

    @Test("the configuration may come through a pipe; it is then read once")
    func pipes() async throws {
        try await offPool {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let checked = try Self.shell("printf 'ads: {per-page: 4}' | \"$0\" check-config --config /dev/stdin")
            #expect(checked.code == 0 && checked.lines.contains("ads.per-page=4  # /dev/stdin"), "\(checked.lines)")
            let arguments = ["serve", "--config", "/dev/fd/3", "--port", "0", "--admin-port", "0", "--database", "\(folder)/x.sqlite"]
            let service = try SpawnedProcess(
                ["/bin/sh", "-c", "exec \"$0\" \"$@\" 3<<END\nads:\n  per-page: 3\nEND\n", BuiltProduct.path("intertwine")] + arguments)
            _ = try service.line(containing: "service: listening on")
            service.signal(SIGHUP)
            #expect(try service.line(containing: "not taken").contains("/dev/fd/3: the configuration came from a pipe"))
            service.signal(SIGTERM)
            while try service.nextLine() != nil {}
            #expect(service.wait() == 0)
        }
    }

    @Test("an empty INTERTWINE_CONFIG is none")
    func emptyVariable() async throws {
        try await offPool {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let result = try Command.run(
                ["check-config", "--database", "\(folder)/x.sqlite"], environment: ["INTERTWINE_CONFIG": ""])
            #expect(result.code == 0, "\(result.lines)")
        }
    }

    @Test("output that cannot be written is one line and code 1")
    func fullOutput() async throws {
        try await offPool {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let items = "\(folder)/items.ndjson"
            try Items.user("a").write(toFile: items, atomically: true, encoding: .utf8)
            for command in [
                ["import", items], ["report"], ["check-config"], ["schema", "user"], ["image-url", "https://example.com/a.png"],
            ] {
                let result = try Self.shell("\"$0\" \"$@\" > /dev/full", command + options)
                #expect(result.code == 1, "\(command)")
                #expect(result.lines.count == 1 && result.lines[0].contains("standard output cannot be written"), "\(result.lines)")
            }
        }
    }

    @Test("a database that is no file is refused before anything is made", arguments: [":memory:", "file:x.sqlite"])
    func noFile(name: String) async throws {
        try await offPool {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let items = "\(folder)/items.ndjson"
            try Items.user("a").write(toFile: items, atomically: true, encoding: .utf8)
            let result = try Self.shell("cd '\(folder)' && \"$0\" \"$@\"", ["import", "--config", "/dev/null", "--database", name, items])
            #expect(result.code == 1 && result.lines.count == 1, "\(result.lines)")
            #expect(result.lines.first?.contains("store.database: '\(name)'") == true)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["items.ndjson"])
        }
    }
}
