public import ArgumentParser
import Foundation
import IntertwineFeed
import IntertwineService
import IntertwineStorage

struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Put the items of files into the store: JSON arrays or NDJSON, compressed by gzip or not.",
        discussion: """
            All files are one transaction: nothing is visible before the last item is in. An item whose id is known
            replaces the old one, which keeps its place in the feed. A bad item is told by its line; in an array, which
            may be one line, by how many items stand before it, its id and its byte too.

              intertwine import --database data/intertwine.sqlite Config/sample/feed.json
              intertwine import --dry-run items.ndjson.gz
              intertwine import --foreground items.ndjson.gz
              jq '.users' answer.json | intertwine import --on-error skip -
            """)

    @OptionGroup var options: SettingOptions

    @Option(help: "What to do about a bad item: stop and take everything back, or skip and report it.")
    var onError = BadItemPolicy.stop

    @Flag(help: "Check everything, tell all bad items and what would be done, and write nothing.")
    var dryRun = false

    @Flag(help: "Refuse what is not gzip. A file that begins as gzip is read as such without it.")
    var gzip = false

    @Flag(
        help: """
            Compute at once, as any program does. Without it an import reads and checks only where nobody else wants to compute, and rests \
            where it had to wait, so that whoever reads from the store notices little: on a machine that is never at rest that takes long. Other writes of items wait \
            only while everything is put into the store in the end, which is done at once.
            """)
    var foreground = false

    @Argument(help: ArgumentHelp("Files to read; - for standard input.", valueName: "file"))
    var files: [String]

    // The optimizer of Swift 6.3 crashes on this method. It runs once and mostly waits, so it needs no optimization.
    @_optimize(none)
    func run() async throws {
        // The thread is created before the others get their low priority, because most users cannot raise a priority.
        let writer = WritingThread()
        if !foreground { Throttle.yieldToOthers(except: writer.identifier) }
        let configuration = try await options.configuration()
        let opened = try files.map { try Opened($0) }
        if !dryRun { configuration.store.makeDataFolder() }
        // SQLite sorts large data in files beside the store, whose disk has the space for them.
        setenv("SQLITE_TMPDIR", configuration.store.path(of: ""), 0)
        let importer = try configuration.store.items().importer(
            kinds: try configuration.itemKinds(), sections: try configuration.sectionPlans(), policy: dryRun ? .skip : onError,
            isCompressed: gzip, limit: .max, isRehearsal: dryRun
        ) { bad in
            Output.printError("\(opened[bad.file].name): \(bad)\(onError == .skip ? ", skipped" : "")")
        }
        let total = opened.allSatisfy { $0.size != nil } ? opened.reduce(0) { $0 + ($1.size ?? 0) } : nil
        var progress = ProgressLine(total: total, isTerminal: Output.isTerminal)
        let interruption = SignalHandler(Self.nothing)
        defer { interruption.end() }
        func gather() throws -> ImportSummary {
            var way = foreground ? nil : Throttle()
            for file in opened {
                do {
                    try importer.add(contentsOf: file.handle.fileDescriptor, named: file.name) { summary in
                        if let text = progress.text(for: summary) { Output.write(text) }
                        way?.pause()
                    }
                } catch let fault as ItemFileError {
                    Output.write(progress.end)
                    throw ExitError("\(file.name): \(fault); \(Self.nothing)")
                }
            }
            return try writer.run { try importer.commit(interruption.committing) }
        }
        /// Reads all files. An error that an item causes is returned with its file; some errors are found only after the last file.
        func gatherAll() throws -> ImportSummary {
            do { return try gather() } catch let bad as InvalidItem {
                Output.write(progress.end)
                throw ExitError("\(opened[bad.file].name): \(bad); \(Self.nothing)")
            }
        }
        let summary: ImportSummary
        if dryRun {
            summary = try gatherAll()
        } else {
            summary = try await configuration.audited("import", opened.map(\.name).joined(separator: " ")) { note in
                interruption.notifying { note.flushOnFailure() }
                let summary = try gatherAll()
                note.record(summary)
                return summary
            }
        }
        Output.write(progress.end)
        try report(summary)
    }

    private static let nothing = "nothing was imported"

    private func report(_ summary: ImportSummary) throws {
        let withheld = summary.withheld.count == 0 ? "" : ", withheld \(summary.withheld): taken down"
        guard dryRun else {
            return try Output.say("added \(summary.added), replaced \(summary.replaced), skipped \(summary.skipped)\(withheld)")
        }
        guard onError == .skip || summary.skipped == 0 else {
            let items = summary.skipped == 1 ? "1 bad item" : "\(summary.skipped) bad items"
            throw ExitError("\(items): nothing would be imported without --on-error skip; nothing was written")
        }
        try Output.say(
            "would add \(summary.added), replace \(summary.replaced), skip \(summary.skipped)\(withheld); nothing was written")
    }

    private struct Opened {
        var name: String
        var handle: FileHandle
        /// The size in bytes; nil if it is not known in advance.
        var size: Int?

        init(_ path: String) throws {
            guard path != "-" else {
                (name, handle) = ("standard input", .standardInput)
                return
            }
            guard let handle = FileHandle(forReadingAtPath: path) else {
                throw ExitError("\(path): cannot be opened: \(String(cString: strerror(errno)))")
            }
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            guard attributes?[.type] as? FileAttributeType != .typeDirectory else { throw ExitError("\(path): is a folder, not a file") }
            let isFile = attributes?[.type] as? FileAttributeType == .typeRegular
            (name, self.handle, size) = (path, handle, isFile ? (attributes?[.size] as? Int) : nil)
        }
    }
}

/// A thread with the initial priority of the process, for work that other programs wait for.
///
/// `@unchecked Sendable`: a caller that passes work to the thread blocks until the work is done.
private final class WritingThread: @unchecked Sendable {
    private(set) var identifier: pid_t?
    private var work: (() -> Void)?
    private let begins = DispatchSemaphore(value: 0)
    private let ends = DispatchSemaphore(value: 0)

    init() {
        Thread.detachNewThread { [self] in
            // The link is `PID/task/THREAD`; Swift does not import gettid(2).
            let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
            identifier = link?.split(separator: "/").last.flatMap { pid_t($0) }
            ends.signal()
            begins.wait()
            work?()
            ends.signal()
        }
        ends.wait()
    }

    /// Runs work on the thread and blocks until it is done. Call it at most once.
    func run<Value>(_ body: () throws -> Value) throws -> Value {
        try withoutActuallyEscaping(body) { body in
            var result: Result<Value, any Error>?
            work = { result = Result { try body() } }
            begins.signal()
            ends.wait()
            work = nil
            guard let result else { throw CancellationError() }
            return try result.get()
        }
    }
}

extension BadItemPolicy: ExpressibleByArgument {}
