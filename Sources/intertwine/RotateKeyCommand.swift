import ArgumentParser
import IntertwineService

struct RotateKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate-key",
        abstract: "Create a new signing key in the PostgreSQL database.",
        discussion: """
            All replicas sign with the new key ten seconds later, without a restart. Signatures of the previous key stay valid until the next
            rotation. The next rotation is therefore refused while links of the key before are valid.

              intertwine rotate-key --database postgresql://intertwine@db/intertwine
            """)

    @OptionGroup var options: SettingOptions

    @Flag(help: "Rotate even if links of the key before the current one are still valid; they become invalid.")
    var force = false

    func run() async throws {
        let configuration = try await options.configuration()
        try await configuration.audited("rotate-key", "signing.key") { _ in try await configuration.rotateKey(isForced: force) }
        try Output.say("created a new key; all replicas sign with it in ten seconds")
    }
}
