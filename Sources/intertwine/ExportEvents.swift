import ArgumentParser
import Feed
import Foundation
import Service
import Storage

struct ExportEvents: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "Write the ledger's events as NDJSON, oldest first.",
        discussion: """
            Each row has a marker. To go on where an export ended, give the last row's marker:

              intertwine export events --since 4711 >> events.ndjson
            """)

    private static let batch = 5_000

    @OptionGroup var options: SettingOptions

    @Option(help: "Begin behind the row with this marker.")
    var since: Int64 = 0

    private struct Row: Encodable {
        var marker: Int64
        var at: String
        var kind: String
        var cell: String
        var viewer: String?
        var verdict: String
        var address: String?
        var userAgent: String?

        init(_ recorded: RecordedEvent) {
            let event = recorded.event
            marker = recorded.marker
            at = Date(timeIntervalSince1970: Double(event.at) / 1_000).formatted(
                .iso8601.time(includingFractionalSeconds: true).year().month().day())
            (kind, cell, viewer) = (event.kind.rawValue, event.cell, event.viewer)
            (verdict, address, userAgent) = (event.verdict.rawValue, event.address, event.userAgent)
        }
    }

    func run() async throws {
        guard since >= 0 else { throw ValidationError("--since takes a marker of an earlier export") }
        let ledger = try SQLiteLedger(existing: try await options.configuration().store.ledgerDatabase)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        var marker = since
        while true {
            let events = try await ledger.events(after: marker, limit: Self.batch)
            guard let last = events.last else { return }
            var lines = Data()
            for event in events {
                lines += try encoder.encode(Row(event))
                lines.append(0x0A)
            }
            do {
                try FileHandle.standardOutput.write(contentsOf: lines)
            } catch {
                throw Refusal("standard output cannot be written: \(error.localizedDescription)")
            }
            marker = last.marker
        }
    }
}
