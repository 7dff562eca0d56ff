import Foundation
import Testing

/// The program that runs a manager in a process of its own.
enum CacheFiller {
    /// Next to the test bundle.
    static func program() throws -> URL {
        let bundle = try #require(CommandLine.arguments.first { $0.hasSuffix(".xctest") || $0.contains(".build") })
        return URL(fileURLWithPath: bundle).deletingLastPathComponent().appendingPathComponent("CacheFiller")
    }

    /// Runs it to its end, and gives the numbers in each line that it printed.
    static func run(_ arguments: [String]) async throws -> [[Int]] {
        let process = Process()
        let output = Pipe()
        process.executableURL = try program()
        process.arguments = arguments
        process.standardOutput = output
        let ended = AsyncStream<Void> { stream in process.terminationHandler = { _ in stream.finish() } }
        try process.run()
        for await _ in ended {}
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        return text.split(separator: "\n").map { $0.split(separator: " ").compactMap { Int($0) } }
    }
}
