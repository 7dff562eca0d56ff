internal import ArgumentParser
import Foundation
import IntertwineFeed
import IntertwineService
import IntertwineStorage

struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import items from files: JSON arrays or NDJSON, optionally compressed by gzip.",
        discussion: """
            All files are imported in one transaction. An item with the id of a stored item replaces it, and keeps its position in the feed.
            An invalid item is reported with its line; in an array also with its index, id and byte offset.

              intertwine import --database data/intertwine.sqlite Sources/IntertwineSample/files/feed.json
              intertwine import --dry-run items.ndjson.gz
              intertwine import --foreground items.ndjson.gz
              jq '.users' export.json | intertwine import --on-error skip -
            """)

    @OptionGroup var options: SettingOptions

    @Option(help: "Handling of an invalid item: stop and import nothing, or skip and report it.")
    var onError = BadItemPolicy.stop

    @Flag(help: "Check all items, report the invalid ones and the changes, and write nothing.")
    var dryRun = false

    @Flag(help: "Reject input that is not gzip. Gzip is detected without this flag.")
    var gzip = false

    @Flag(
        help: """
            Run at normal priority. Otherwise the import reads and checks at low priority (nice 10), and pauses while other programs need \
            the processor. Other writes of items wait only during the transaction at the end, which runs \
            at normal priority.
            """)
    var foreground = false

    @Argument(help: ArgumentHelp("Files to import; - for standard input.", valueName: "file"))
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
            Output.printError(
                "\(opened[bad.file].name): \(bad)\(bad.isKept ? "; the value is left out" : onError == .skip ? ", skipped" : "")")
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
            summary = try await configuration.audited(
                "import", opened.map(\.name).joined(separator: " "), begins: interruption.beginning
            ) { note in
                let summary = try gatherAll()
                note.record(summary)
                return summary
            }
        }
        Output.write(progress.end)
        try report(summary, in: configuration.store.location)
        // The import itself is done, whatever is wrong with campaigns.
        for line in dryRun ? [] : (try? await configuration.campaignsOfHouseAds()) ?? [] { Output.printError(line) }
    }

    private static let nothing = "nothing was imported"

    private func report(_ summary: ImportSummary, in store: String) throws {
        let omitted = summary.omittedValues == 0 ? "" : ", omitted values \(summary.omittedValues)"
        let withheld = omitted + (summary.withheld.count == 0 ? "" : ", withheld \(summary.withheld): taken down")
        guard dryRun else {
            return try Output.say("\(store): added \(summary.added), replaced \(summary.replaced), skipped \(summary.skipped)\(withheld)")
        }
        let invalid = summary.skipped + summary.omittedValues
        guard onError == .skip || invalid == 0 else {
            let items = invalid == 1 ? "1 invalid item" : "\(invalid) invalid items"
            throw ExitError("\(items): nothing would be imported without --on-error skip; nothing was written")
        }
        try Output.say(
            "\(store): would add \(summary.added), replace \(summary.replaced), skip \(summary.skipped)\(withheld); nothing was written")
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

    /// Call it at most once.
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
