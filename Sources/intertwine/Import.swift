public import ArgumentParser
import Feed
import Foundation
import Service
import Storage

struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Put the items of files into the store: JSON arrays or NDJSON.",
        discussion: """
            All files are one transaction: nothing is visible before the last item is in. An item whose id is known
            replaces the old one, which keeps its place in the feed.

              intertwine import --database data/intertwine.sqlite Config/sample/feed.json
              zcat items.ndjson.gz | intertwine import --on-error skip -
            """)

    @OptionGroup var options: SettingOptions

    @Option(help: "What to do about a bad item: stop and take everything back, or skip and report it.")
    var onError = BadItemPolicy.stop

    @Argument(help: ArgumentHelp("Files to read; - for standard input.", valueName: "file"))
    var files: [String]

    func run() async throws {
        let configuration = try await options.configuration()
        let opened = try files.map { try Self.open($0) }
        // Where SQLite sorts what does not fit into memory: beside the store, which is on a disk that holds it.
        setenv("SQLITE_TMPDIR", (configuration.store.database as NSString).deletingLastPathComponent, 0)
        var name = ""
        let importer = try ItemImport(
            into: configuration.store.database, kinds: try configuration.itemKinds(), sections: try configuration.sectionPlans(),
            policy: onError
        ) { bad in
            Output.complain("\(name): \(bad), skipped")
        }
        let total = opened.allSatisfy { $0.size != nil } ? opened.reduce(0) { $0 + ($1.size ?? 0) } : nil
        var progress = ProgressLine(total: total, isTerminal: Output.isTerminal)
        for file in opened {
            name = file.name
            do {
                try importer.add(contentsOf: file.handle.fileDescriptor) { summary in
                    if let text = progress.text(for: summary) { Output.write(text) }
                }
            } catch let bad as BadItem {
                Output.write(progress.end)
                throw Refusal("\(name): \(bad); nothing was imported")
            } catch let error as CocoaError {
                throw Refusal("\(name): cannot be read: \(error.localizedDescription)")
            }
        }
        let summary = try importer.commit()
        Output.write(progress.end)
        try Output.say("added \(summary.added), replaced \(summary.replaced), skipped \(summary.skipped)")
    }

    private struct Opened {
        var name: String
        var handle: FileHandle
        /// Nil where the end is not known beforehand.
        var size: Int?
    }

    private static func open(_ path: String) throws -> Opened {
        if path == "-" { return Opened(name: "standard input", handle: .standardInput, size: nil) }
        guard let handle = FileHandle(forReadingAtPath: path) else { throw Refusal("\(path): cannot be opened") }
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        guard attributes?[.type] as? FileAttributeType != .typeDirectory else { throw Refusal("\(path): is a folder") }
        let isFile = attributes?[.type] as? FileAttributeType == .typeRegular
        return Opened(name: path, handle: handle, size: isFile ? (attributes?[.size] as? Int) : nil)
    }
}

extension BadItemPolicy: ExpressibleByArgument {}
