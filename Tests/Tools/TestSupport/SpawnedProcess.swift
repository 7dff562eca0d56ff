import CIntertwineLinux
import Foundation
import Glibc

/// A program under test, whose output is read line by line. Blocking: use it within ``offPool(_:)``.
public final class SpawnedProcess {
    public let identifier: Int32
    private let output: Int32
    private var buffer: [UInt8] = []
    private var exit: Int32?
    /// All lines read so far, standard output and standard error together.
    public private(set) var lines: [String] = []

    /// - Parameters:
    ///   - arguments: the program's path and its arguments.
    ///   - environment: added to this process's own.
    public init(_ arguments: [String], environment: [String: String] = [:]) throws {
        var ends: [Int32] = [0, 0]
        if clinux_pipe(&ends) != 0 { throw RawClientError.system("pipe", errno) }
        output = ends[0]
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 2)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // Threads of Dispatch block most signals, and a program inherits what the thread that starts it blocks.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var blocked = sigset_t()
        sigemptyset(&blocked)
        posix_spawnattr_setsigmask(&attributes, &blocked)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let merged = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let words = arguments.map { strdup($0) } + [nil]
        let variables = merged.map { strdup("\($0)=\($1)") } + [nil]
        defer {
            for word in words { free(word) }
            for variable in variables { free(variable) }
        }
        var child: pid_t = 0
        let result = posix_spawn(&child, arguments.first ?? "", &actions, &attributes, words, variables)
        close(ends[1])
        identifier = child
        if result != 0 {
            close(output)
            exit = 127
            throw RawClientError.system("posix_spawn", result)
        }
    }

    deinit {
        if exit == nil {
            kill(identifier, SIGKILL)
            _ = wait()
        }
        close(output)
    }

    /// The first line, read before or yet to come, that holds `text`.
    public func line(containing text: String, timeout: Int32 = 15_000) throws -> String {
        if let line = lines.first(where: { $0.contains(text) }) { return line }
        while let line = try nextLine(timeout: timeout) {
            if line.contains(text) { return line }
        }
        throw RawClientError.closed
    }

    /// Nil at the end of the output.
    public func nextLine(timeout: Int32 = 15_000) throws -> String? {
        while true {
            if let end = buffer.firstIndex(of: 10) {
                let line = String(decoding: buffer[0..<end], as: UTF8.self)
                buffer.removeSubrange(0...end)
                lines.append(line)
                return line
            }
            var poller = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            if poll(&poller, 1, timeout) == 0 { throw RawClientError.timedOut }
            var chunk = [UInt8](repeating: 0, count: 4096)
            let count = read(output, &chunk, chunk.count)
            if count <= 0 { return nil }
            buffer += chunk[0..<count]
        }
    }

    public func signal(_ number: Int32) { if exit == nil { kill(identifier, number) } }

    /// Waits for the end: the exit code, or minus the number of the signal.
    public func wait() -> Int32 {
        if let exit { return exit }
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
        let code = status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
        exit = code
        return code
    }

    /// Open descriptors of the process.
    public var openDescriptors: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(identifier)/fd").count) ?? 0
    }

    /// Resident memory in KiB.
    public var residentKilobytes: Int {
        let status = (try? String(contentsOfFile: "/proc/\(identifier)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
        return Int(line.filter(\.isNumber)) ?? 0
    }
}
