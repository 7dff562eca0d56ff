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

}
