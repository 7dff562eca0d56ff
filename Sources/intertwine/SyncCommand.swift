import ArgumentParser
import IntertwineService
import IntertwineStorage
import Synchronization

struct SyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Synchronize the store with a remote source.",
        discussion: """
            All pages are read before the store is changed, in one transaction. A running service serves the new items with its next response. If
            the synchronization fails, the store is unchanged.

              intertwine sync --set sources.file=Config/sources.yaml catalogue
            """)

    @OptionGroup var options: SettingOptions

    @Argument(help: "Name of the source.")
    var source: String

    func run() async throws {
        let configuration = try await options.configuration()
        let progress = SyncProgress(isTerminal: Output.isTerminal)
        let interruption = SignalHandler(nil)
        defer { interruption.end() }
        let outcome: SourceOutcome
        do {
            outcome = try await configuration.audited("sync", source) { note in
                let outcome = try await configuration.synchronise(source) { bad in
                    Output.printError(bad.isKept ? "\(bad)" : "\(bad), skipped")
                } onProgress: { step in
                    progress.show(step)
                }
                note.record(outcome)
                return outcome
            }
        } catch let failure as SourceError {
            Output.write(progress.end)
            if case .store(.uncertain) = failure { throw ExitError("\(source): \(failure)") }
            throw ExitError("\(source): \(failure); nothing was changed")
        }
        Output.write(progress.end)
        let changes = outcome.changes ?? SourceChanges()
        try Output.say(
            "\(configuration.store.location): added \(changes.added), changed \(changes.changed), removed \(changes.removed), unchanged \(changes.unchanged), "
                + "skipped \(outcome.skipped)" + (outcome.omittedValues == 0 ? "" : ", omitted values \(outcome.omittedValues)")
                + (changes.withheld.count == 0 ? "" : ", withheld \(changes.withheld): taken down"))
    }
}
