import ArgumentParser
import IntertwineService
import IntertwineStorage
import IntertwineSync
import Synchronization

struct SyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Bring the store in step with a remote source, now.",
        discussion: """
            All pages are read before the store is changed, in one transaction: a running service shows the new items with its next
            answer. When anything goes wrong, nothing is changed.

              intertwine sync --set sources.file=Config/sources.yaml catalogue
            """)

    @OptionGroup var options: SettingOptions

    @Argument(help: "The source's name.")
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
                    Output.printError("\(bad), skipped")
                } onProgress: { step in
                    progress.show(step)
                }
                note.record(outcome)
                return outcome
            }
        } catch let failure as SourceError {
            Output.write(progress.end)
            throw ExitError("\(source): \(failure); nothing was changed")
        }
        Output.write(progress.end)
        let changes = outcome.changes ?? SourceChanges()
        try Output.say(
            "added \(changes.added), changed \(changes.changed), removed \(changes.removed), unchanged \(changes.unchanged), "
                + "skipped \(outcome.skipped)"
                + (changes.withheld.count == 0 ? "" : ", withheld \(changes.withheld): taken down"))
    }
}
