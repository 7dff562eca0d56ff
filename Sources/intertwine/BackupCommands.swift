import ArgumentParser
import Glibc
import IntertwineService
import Synchronization

struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy items, ledger and signing key into a new folder, while a service may run.",
        discussion: """
            The copy has the state of both databases at one point in time, with every event that was acknowledged before. The folder has its
            name once it is complete and on disk. It has no images and no audit log, and no key if signing.key is configured. A PostgreSQL
            database is refused.

              intertwine backup --database data/intertwine.sqlite /backup/2026-11-27
            """)

    @OptionGroup var options: SettingOptions

    @Argument(help: "Folder to create. It must not exist.")
    var target: String

    func run() async throws {
        let configuration = try await options.configuration()
        let progress = CopyProgressLine()
        let interruption = SignalHandler("no backup was made")
        defer { interruption.end() }
        let summary: String
        do {
            summary = try await StoreBackup.create(
                in: target, of: configuration, begins: interruption.beginning,
                willFinish: interruption.committing, onProgress: progress.show)
        } catch {
            progress.end()
            throw error
        }
        progress.end()
        try Output.say("\(target): \(summary)")
    }
}

struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Verify a backup, or the files of a stopped service.",
        discussion: """
            The command reads all data. It checks that items, ledger and signing key belong together, their schema versions, and the
            structure of all tables and indexes (SQLite's integrity_check). One line reports each finding, and the exit code is then 1.
            Nothing is written.

              intertwine verify /backup/2026-11-27
              intertwine verify data/intertwine.sqlite
            """)

    @Argument(help: "Folder of a backup, or SQLite file of the items.")
    var path: String

    func run() async throws {
        let progress = CopyProgressLine()
        let result = try await StoreBackup.verify(path) { progress.show($0, 0) }
        progress.end()
        try Output.report(result, of: path)
    }
}

struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Restore a backup of items, ledger and signing key.",
        discussion: """
            The backup is verified first, as intertwine verify does. The command is refused while a service uses the store, or if a store
            exists. --overwrite replaces it, and does not keep a copy. If the command fails or is interrupted, the store is unchanged, or
            incomplete: the start of a service then reports that, and the same command with --overwrite continues.

              intertwine restore /backup/2026-11-27 --database data/intertwine.sqlite
            """)

    @OptionGroup var options: SettingOptions

    @Flag(help: "Replace an existing store.")
    var overwrite = false

    @Argument(help: "Folder of a backup, or SQLite file of the items of a stopped service.")
    var source: String

    func run() async throws {
        let configuration = try await options.configuration()
        let progress = CopyProgressLine()
        let interruption = SignalHandler("nothing was restored")
        defer { interruption.end() }
        let result: (summary: String, findings: [String])
        do {
            result = try await StoreBackup.restore(
                source, to: configuration, overwrites: overwrite,
                begins: interruption.beginning,
                willReplace: interruption.release, onProgress: progress.show)
        } catch {
            progress.end()
            throw error
        }
        progress.end()
        if !result.findings.isEmpty { Output.printError("\(source): nothing was restored") }
        try Output.report(result, of: result.findings.isEmpty ? configuration.store.location : source)
    }
}

extension Output {
    fileprivate static func report(_ result: (summary: String, findings: [String]), of subject: String) throws {
        for finding in result.findings { try say(finding) }
        guard result.findings.isEmpty else { throw ExitCode.failure }
        try say("\(subject): \(result.summary)")
    }
}

private final class CopyProgressLine: Sendable {
    private let isTerminal = Output.isTerminal
    private let last = Mutex("")

    func show(_ file: String, _ share: Double) {
        let text = share > 0 && isTerminal ? "\(file): \(Int(share * 100))%" : file
        last.withLock { last in
            guard last != text else { return }
            last = text
            Output.write(isTerminal ? "\(Output.erasure)\(text)" : "\(text)\n")
        }
    }

    func end() { if isTerminal { Output.write(Output.erasure) } }
}
