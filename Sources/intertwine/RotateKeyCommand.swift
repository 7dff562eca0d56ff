import ArgumentParser
import IntertwineService

struct RotateKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate-key",
        abstract: "Make a new signing key in the PostgreSQL database.",
        discussion: """
            All replicas sign with it ten seconds later, without a restart. What the key before it signed stays valid until the next rotation,
            which therefore has to wait for as long as links are good for.

              intertwine rotate-key --database postgresql://intertwine@db/intertwine
            """)

    @OptionGroup var options: SettingOptions

    @Flag(help: "Rotate although links are about that the key before the present one signed: they are void from then on.")
    var force = false

    func run() async throws {
        let configuration = try await options.configuration()
        try await configuration.audited("rotate-key", "signing.key") { _ in try await configuration.rotateKey(isForced: force) }
        try Output.say("a new key is there; all replicas sign with it in ten seconds")
    }
}
