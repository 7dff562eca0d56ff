import ArgumentParser
import Foundation
import IntertwineFeed
import IntertwinePrimitives
import IntertwineService
import IntertwineStorage

struct VoidCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "void",
        abstract: "Take counted events of ads back.",
        discussion: """
            The events get the verdict 'voided'. They leave the counts of all reports and the delivery of their campaign, which owes them again.
            All conditions must hold. A service may be running.

              intertwine void --from 2026-11-21T00:00:00Z --until 2026-11-22T00:00:00Z --campaign spring --user-agent Loader/ --dry-run
            """)

    @OptionGroup var options: SettingOptions

    @Option(help: "First moment, such as 2026-11-21T10:00:00Z.")
    var from: String

    @Option(help: "Moment after the last one, at most 366 days later.")
    var until: String

    @Option(help: "Kind of the events: impression, click, or one of playback.")
    var kind: String?

    @Option(help: "Id of a campaign.")
    var campaign: String?

    @Option(help: "An address, or its stored form as exports have it, such as 203.0.113.0/24.")
    var address: String?

    @Option(help: "A part of the user agent, with the same letter case.")
    var userAgent: String?

    @Flag(help: "Count the events, and change nothing.")
    var dryRun = false

    func run() async throws {
        let configuration = try await options.configuration()
        let selection = try selection(configuration)
        guard let ledger = try configuration.existingLedger() else {
            throw ExitError("there is no ledger; set store.database, or --database")
        }
        let groups: [EventSelection.VoidedCount]
        if dryRun {
            groups = try await ledger.void(selection, isDryRun: true)
        } else {
            groups = try await configuration.audited("void", "events") { note in
                let groups = try await ledger.void(selection, isDryRun: false)
                note.record(["voided": groups.sum], items: Set(groups.map { "campaign:\($0.campaign)" }).sorted())
                return groups
            }
        }
        for group in groups {
            try Output.put("\(group.campaign.isEmpty ? "-" : group.campaign.shown)\t\(group.kind.shown)\t\(group.events)\n".utf8)
        }
        try Output.say("\(groups.sum) events \(dryRun ? "would be voided" : "voided")")
    }

    private func selection(_ configuration: ServiceConfiguration) throws -> EventSelection {
        var selection = EventSelection(time: try Self.moment(from, "--from")..<Self.moment(until, "--until", after: from))
        if let fault = selection.fault { throw ValidationError("--until: \(fault)") }
        selection.kind = kind.map { LedgerEvent.Kind(rawValue: $0) }
        guard selection.kind?.isOfAds ?? true else { throw ValidationError("--kind must be impression, click or a kind of playback") }
        for (option, value) in [("--campaign", campaign), ("--user-agent", userAgent), ("--address", address)] where value == "" {
            throw ValidationError("\(option) must not be empty")
        }
        (selection.campaign, selection.userAgent) = (campaign, userAgent)
        if let address { selection.addresses = try configuration.storedForms(of: address, in: selection.time) }
        return selection
    }

    private static func moment(_ text: String, _ option: String, after start: String? = nil) throws -> Int64 {
        guard let moment = Timestamp.milliseconds(of: text) else {
            throw ValidationError("\(option) must be a time such as 2026-11-21T10:00:00Z")
        }
        if let start, let first = Timestamp.milliseconds(of: start), moment <= first {
            throw ValidationError("\(option) must be later than --from")
        }
        return moment
    }
}

extension [EventSelection.VoidedCount] {
    fileprivate var sum: Int { reduce(0) { $0 + $1.events } }
}
