import ArgumentParser
import Foundation
import IntertwineFeed
import IntertwinePrimitives
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

    private struct Row: Encodable {
        private enum CodingKeys: CodingKey {
            case marker, at, kind, cell, viewer, verdict, address, userAgent, campaign, feed, section, position, layout, input
        }

        var marker: Int64
        /// The time in RFC 3339 format, in UTC with milliseconds.
        var at: String
        var kind: String
        var cell: String
        var viewer: String?
        var verdict: String
        var address: String?
        var userAgent: String?
        var campaign: String?
        var page: ImpressionContext?
        var input: [String: InputValue]?

        init(_ recorded: RecordedEvent) {
            let event = recorded.event
            marker = recorded.sequence
            at = Timestamp.exactText(milliseconds: event.at)
            (kind, cell, viewer) = (event.kind.rawValue, event.cell, event.viewer)
            (verdict, address, userAgent) = (event.verdict.rawValue, event.address, event.userAgent)
            (campaign, page) = (event.showing?.campaign, event.page)
            input = event.input.flatMap { try? JSONDecoder().decode([String: InputValue].self, from: Data($0.json.utf8)) }
        }

        func encode(to encoder: any Encoder) throws {
            var row = encoder.container(keyedBy: CodingKeys.self)
            try row.encode(marker, forKey: .marker)
            try row.encode(at, forKey: .at)
            try row.encode(kind, forKey: .kind)
            try row.encode(cell, forKey: .cell)
            try row.encode(viewer, forKey: .viewer)
            try row.encode(verdict, forKey: .verdict)
            try row.encode(address, forKey: .address)
            try row.encode(userAgent, forKey: .userAgent)
            try row.encode(campaign, forKey: .campaign)
            try row.encode(page?.feed, forKey: .feed)
            try row.encode(page?.section, forKey: .section)
            try row.encode(page?.position, forKey: .position)
            try row.encode(page?.layout.rawValue, forKey: .layout)
            try row.encode(input, forKey: .input)
        }
    }

    private enum InputValue: Codable {
        case flag(Bool)
        case integer(Int64)
        case number(Double)
        case text(String)

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if let flag = try? value.decode(Bool.self) {
                self = .flag(flag)
            } else if let integer = try? value.decode(Int64.self) {
                self = .integer(integer)
            } else if let number = try? value.decode(Double.self) {
                self = .number(number)
            } else {
                self = .text(try value.decode(String.self))
            }
        }

        func encode(to encoder: any Encoder) throws {
            var value = encoder.singleValueContainer()
            switch self {
            case .flag(let flag): try value.encode(flag)
            case .integer(let integer): try value.encode(integer)
            case .number(let number): try value.encode(number)
            case .text(let text): try value.encode(text)
            }
        }
    }

    func run() async throws {
        guard since >= 0 else { throw ValidationError("--since must be a marker of an earlier export") }
        // Two statements, because Swift 6.3 crashes when it optimizes them as one.
        let configuration = try await options.configuration()
        guard let ledger = try configuration.existingLedger() else { return }
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
            try Output.put(lines)
            marker = last.sequence
        }
    }
}
