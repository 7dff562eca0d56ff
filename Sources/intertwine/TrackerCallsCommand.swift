import ArgumentParser
import Foundation
import IntertwineFeed
import IntertwinePrimitives
import IntertwineService
import IntertwineStorage

struct TrackerCallsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tracker-calls",
        abstract: "Print the pending and the abandoned calls of trackers.",
        discussion: """
            A call is made after its impression or click is on disk, and is retried until it succeeds. A service may be running.

              intertwine tracker-calls
              intertwine tracker-calls --format json
            """)

    enum Format: String, CaseIterable, ExpressibleByArgument { case table, json }

    @OptionGroup var options: SettingOptions

    @Option(help: "Output format.")
    var format = Format.table

    @Option(help: "Maximum number of calls of each state, 1 to 10000.")
    var limit = 100

    func validate() throws {
        guard (1...10_000).contains(limit) else { throw ValidationError("--limit must be from 1 to 10000") }
    }

    func run() async throws {
        let configuration = try await options.configuration()
        let ledger = try configuration.existingLedger()
        let summary = try await ledger?.trackerSummary() ?? TrackerSummary()
        let waiting = try await ledger?.trackerCalls(abandoned: false, limit: limit) ?? []
        let givenUp = try await ledger?.trackerCalls(abandoned: true, limit: limit) ?? []
        switch format {
        case .json:
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            let document = Document(
                waiting: summary.waiting, givenUp: summary.givenUp, calls: (waiting + givenUp).map(Document.Call.init))
            try Output.put(try encoder.encode(document) + Array("\n".utf8))
        case .table:
            let oldest = summary.oldest.map { ", the oldest of an event at \(Timestamp.text(milliseconds: $0))" } ?? ""
            try Output.put("\(summary.waiting) waiting\(oldest); \(summary.givenUp) given up\n".utf8)
            for call in waiting + givenUp { try Output.put(Self.line(call).utf8) }
        }
    }

    private static func line(_ call: TrackerCall) -> String {
        let when =
            call.abandonedAt.map { "given up \(Timestamp.text(milliseconds: $0))" } ?? "due \(Timestamp.text(milliseconds: call.due))"
        let campaign = call.campaign.isEmpty ? "-" : call.campaign
        return [
            when, "event \(call.event)", call.kind.rawValue, campaign, "attempts \(call.attempts)", call.failure ?? "-", call.url,
        ].map(\.shown).joined(separator: "\t") + "\n"
    }

    private struct Document: Encodable {
        struct Call: Encodable {
            var event: Int64
            var kind: String
            var campaign: String?
            var url: String
            var state: String
            var at: String
            var due: String?
            var givenUp: String?
            var attempts: Int
            var failure: String?

            init(_ call: TrackerCall) {
                event = call.event
                kind = call.kind.rawValue
                campaign = call.campaign.isEmpty ? nil : call.campaign
                url = call.url
                state = call.abandonedAt == nil ? "waiting" : "given-up"
                at = Timestamp.text(milliseconds: call.at)
                due = call.abandonedAt == nil ? Timestamp.text(milliseconds: call.due) : nil
                givenUp = call.abandonedAt.map { Timestamp.text(milliseconds: $0) }
                attempts = call.attempts
                failure = call.failure
            }
        }

        var waiting: Int
        var givenUp: Int
        var calls: [Call]
    }
}
