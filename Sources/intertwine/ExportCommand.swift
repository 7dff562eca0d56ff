import ArgumentParser
import Foundation
import IntertwineFeed
import IntertwineService
import IntertwineStorage

struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Export recorded data.",
        discussion: "  intertwine export events > events.ndjson", subcommands: [ExportEventsCommand.self])
}

struct ExportEventsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "Print the events of the ledger as NDJSON, oldest first.",
        discussion: """
            Each row has a marker. The last marker of an export continues it later:

              intertwine export events --since 4711 >> events.ndjson
            """)

    private static let batch = 5_000

    @OptionGroup var options: SettingOptions

    @Option(help: "Marker of the last row of the previous export.")
    var since: Int64 = 0

    func run() async throws {
        guard since >= 0 else { throw ValidationError("--since must be a marker of an earlier export") }
        // Two statements, because Swift 6.3 crashes when it optimizes them as one.
        let configuration = try await options.configuration()
        guard let ledger = try configuration.existingLedger() else { return }
        var marker = since
        while true {
            let events = try await ledger.events(after: marker, limit: Self.batch)
            guard let last = events.last else { return }
            try Output.put(Data(EventRow.lines(events)))
            marker = last.sequence
        }
    }
}
