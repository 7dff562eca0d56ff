import Foundation

/// Another process, whose output is read line by line.
final class Program {
    struct Failure: Error {
        var status: Int32
        var message: String
    }

    private let process = Process()
    private let standardInput = Pipe()
    private let standardOutput = Pipe()
    private let standardError = Pipe()
    private var buffer: [UInt8] = []

    init(path: String, arguments: [String]) throws {
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.standardInput = standardInput
        process.standardOutput = standardOutput
        process.standardError = standardError
        try process.run()
    }

    /// The program of this package that stands next to the tests.
    static func victim(_ arguments: String...) throws -> Program {
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let folder = (tests as NSString).deletingLastPathComponent
        return try Program(path: folder + "/StorageVictim", arguments: arguments)
    }

    /// Keeps a database locked until ``release()``.
    static func lock(_ path: String) throws -> Program {
        // The shell that `.system` runs shares its input and output with the program.
        let program = try Program(
            path: "/usr/bin/sqlite3", arguments: [path, ".timeout 5000", "BEGIN IMMEDIATE", ".system echo locked; read line", "ROLLBACK"])
        guard program.line() == "locked" else { throw Failure(status: 0, message: "\(path) cannot be locked") }
        return program
    }

    func release() throws {
        try send("go on")
        _ = try output()
    }

    /// The next line, or nil at the end of the output.
    func line() -> String? {
        while true {
            if let end = buffer.firstIndex(of: 0x0A) {
                defer { buffer.removeSubrange(...end) }
                return String(decoding: buffer[..<end], as: UTF8.self)
            }
            let more = standardOutput.fileHandleForReading.availableData
            guard !more.isEmpty else { return nil }
            buffer += more
        }
    }

    func send(_ line: String) throws {
        try standardInput.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
    }

    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
    }

    /// All of its output, once it has ended well.
    func output() throws -> String {
        var lines: [String] = []
        while let line = line() { lines.append(line) }
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            let message = String(decoding: standardError.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            throw Failure(status: process.terminationStatus, message: message)
        }
        return lines.joined(separator: "\n")
    }
}
