import CIntertwineLinux
import Foundation
import Glibc
import Synchronization

/// A PostgreSQL server with a throw-away cluster of its own, from Debian's packages. Blocking: use it within ``offPool(_:)`` where that matters.
///
/// It ends with this process, however that ends: a shell beside it waits for its input to end.
public final class PostgresServer: Sendable {
    public struct Failure: Error, CustomStringConvertible {
        public var description: String
    }

    /// A database of one test's own. It goes with the server.
    public struct Database: Sendable {
        public let server: PostgresServer
        public let name: String

        /// By the server's socket, without a password.
        public var uri: String { server.uri(of: name) }

        /// What `psql` answers: another session of another program.
        @discardableResult
        public func psql(_ sql: String) throws -> String { try server.psql(sql, in: name) }
    }

    private static let running = Mutex<PostgresServer?>(nil)

    /// The server that the tests of a run share, started for the first one that asks.
    public static func shared() throws -> PostgresServer {
        try running.withLock { running in
            if let running { return running }
            let server = try PostgresServer()
            running = server
            return server
        }
    }

    public let folder: String
    public let port: UInt16
    /// The folder of PostgreSQL's programs.
    public let programs: String
    private let shell: Process
    /// The end of the shell's input that keeps it waiting, and what it says.
    private let (input, output): (FileHandle, FileHandle)
    private let databases = Mutex(0)

    /// Makes the cluster and starts it: on a socket in its folder, where everybody is trusted, and on a free port of loopback, where
    /// passwords are asked for.
    ///
    /// - Parameters:
    ///   - settings: of the server, as `name=value`.
    ///   - primary: whose hot standby it is; nil for one of its own.
    public init(settings: [String] = [], standbyOf primary: PostgresServer? = nil) throws {
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        guard let version = versions.compactMap(Int.init).max() else {
            throw Failure(description: "there is no PostgreSQL: install the package postgresql")
        }
        programs = "/usr/lib/postgresql/\(version)/bin"
        // Short, as a socket's path must be, and where another user may go.
        folder = "/tmp/intertwine-postgres-\(UUID().uuidString.prefix(8))"
        port = try freePort()
        var ends: [Int32] = [0, 0]
        guard clinux_pipe(&ends) == 0 else { throw Failure(description: "there is no pipe") }
        input = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
        let said = Pipe()
        output = said.fileHandleForReading
        shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/bash")
        shell.arguments = ["-c", Self.script, "postgres", programs, folder, "\(port)", primary?.uri(of: "postgres") ?? ""] + settings
        shell.standardInput = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
        shell.standardOutput = said
        try shell.run()
        try? said.fileHandleForWriting.close()
        try expect("ready")
    }

    /// PostgreSQL refuses to run as root.
    private static let script = """
        programs=$1 folder=$2 port=$3 primary=$4; shift 4
        as_owner=()
        mkdir -m 0755 "$folder"
        if [[ $EUID -eq 0 ]]; then as_owner=(runuser -u postgres --); chown postgres "$folder"; fi
        cd "$folder"
        trap 'rm -rf "$folder"' EXIT
        if [[ -n $primary ]]; then
            "${as_owner[@]}" "$programs/pg_basebackup" -D "$folder/data" -d "$primary" -R -X stream -c fast --no-sync </dev/null >"$folder/log" 2>&1
        else
            "${as_owner[@]}" "$programs/initdb" -D "$folder/data" -U intertwine -A trust -E UTF8 --locale=C.UTF-8 --no-sync </dev/null >"$folder/log" 2>&1
        fi &&
        printf 'local all all trust\\nlocal replication all trust\\nhost all all 127.0.0.1/32 scram-sha-256\\n' >"$folder/data/pg_hba.conf" &&
        { printf "unix_socket_directories = '%s'\\nlisten_addresses = '127.0.0.1'\\nport = %s\\nfsync = off\\nshared_buffers = 32MB\\n" "$folder" "$port"
          printf '%s\\n' "$@"; } >>"$folder/data/postgresql.conf" &&
        "${as_owner[@]}" "$programs/pg_ctl" -w -D "$folder/data" -l "$folder/server.log" start </dev/null >>"$folder/log" 2>&1 ||
        { tail -3 "$folder/log" "$folder/server.log" 2>/dev/null; exit 1; }
        echo ready
        while read -r order; do
            "${as_owner[@]}" "$programs/pg_ctl" -w -D "$folder/data" -m immediate -l "$folder/server.log" "$order" </dev/null >>"$folder/log" 2>&1
            echo done
        done
        "${as_owner[@]}" "$programs/pg_ctl" -D "$folder/data" -m immediate stop </dev/null >/dev/null 2>&1
        """

    public func uri(of database: String) -> String {
        "postgresql://intertwine@\(folder.replacingOccurrences(of: "/", with: "%2F")):\(port)/\(database)"
    }

    /// A new database.
    ///
    /// - Parameter options: more of CREATE DATABASE.
    public func makeDatabase(_ options: String = "") throws -> Database {
        let number = databases.withLock { number in
            number += 1
            return number
        }
        try psql("CREATE DATABASE test_\(number) \(options)", in: "postgres")
        return Database(server: self, name: "test_\(number)")
    }

    /// A new database that lies on a disk of its own. What is committed is logged elsewhere.
    public func makeDatabase(in disk: SmallDisk) throws -> Database {
        try psql("CREATE TABLESPACE small LOCATION '\(disk.folder)/data'", in: "postgres")
        return try makeDatabase("TABLESPACE small")
    }

    /// Stops it as a crash would.
    public func stop() throws { try order("stop") }

    public func start() throws { try order("start") }

    /// Makes a standby a primary.
    public func promote() throws { try order("promote") }

    /// Waits until all that was committed so far is in the archive.
    public func archive() throws {
        let segment = try psql("SELECT pg_walfile_name(pg_switch_wal())", in: "postgres")
        var isArchived = false
        for _ in 0..<1_500 where !isArchived {
            isArchived = try psql("SELECT coalesce(last_archived_wal, '') >= '\(segment)' FROM pg_stat_archiver", in: "postgres") == "t"
            if !isArchived { usleep(20_000) }
        }
        guard isArchived else { throw Failure(description: "PostgreSQL does not archive \(segment)") }
    }

    /// Suspends all processes of the server, as a virtual machine that is paused, until ``thaw()``.
    public func freeze() throws { try signal(SIGSTOP) }

    public func thaw() throws { try signal(SIGCONT) }

    private func signal(_ number: Int32) throws {
        let text = try String(contentsOfFile: "\(folder)/data/postmaster.pid", encoding: .utf8)
        guard let postmaster = text.split(separator: "\n").first.flatMap({ Int32($0) }) else {
            throw Failure(description: "there is no postmaster")
        }
        // The first one forks no more once it is stopped.
        kill(postmaster, number)
        let children = try String(contentsOfFile: "/proc/\(postmaster)/task/\(postmaster)/children", encoding: .utf8)
        for child in children.split(separator: " ").compactMap({ Int32($0) }) { kill(child, number) }
    }

    /// By the shell: a server that is a descendant of a `Process` keeps that from ever being over.
    private func order(_ word: String) throws {
        try input.write(contentsOf: Data("\(word)\n".utf8))
        try expect("done")
    }

    private func expect(_ word: String) throws {
        let said = String(decoding: output.availableData, as: UTF8.self)
        guard said.hasPrefix(word) else { throw Failure(description: "PostgreSQL does not do as it is told: \(said)") }
    }

    @discardableResult
    func psql(_ sql: String, in database: String) throws -> String {
        try Self.output(["\(programs)/psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql, uri(of: database)])
    }

    private static func output(_ words: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: words[0])
        process.arguments = Array(words.dropFirst())
        let (output, fault) = (Pipe(), Pipe())
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = fault
        try process.run()
        let said = output.fileHandleForReading.readDataToEndOfFile()
        let complaint = fault.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(description: String(decoding: complaint, as: UTF8.self)) }
        return String(decoding: said, as: UTF8.self).trimmingCharacters(in: .newlines)
    }
}
