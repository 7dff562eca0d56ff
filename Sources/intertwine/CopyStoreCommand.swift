import ArgumentParser
import IntertwineService

struct CopyStoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy-store",
        abstract: "Copy a store from files to a PostgreSQL database, or back.",
        discussion: """
            The copy has items, sections, takedowns, the lists of sources, the ledger with its totals, viewers' lists, and the signing key. It
            has no images and no audit log. The command is refused while a service uses either store. The destination must be empty, and
            remains so if the copy is interrupted.

              intertwine copy-store --from data/intertwine.sqlite --to postgresql://intertwine@db/intertwine
            """)

    @Option(help: "Source: the SQLite file of the items, or postgresql://HOST/NAME.")
    var from: String

    @Option(help: "Destination, in the same form.")
    var to: String

    func run() async throws {
        let isTerminal = Output.isTerminal
        let counts = try await DatabaseCopy.run(from: from, to: to) { table, rows in
            if isTerminal { Output.write("\r\(table): \(rows)          ") }
        }
        if isTerminal { Output.write("\r") }
        for (table, rows) in counts where rows > 0 { try Output.say("\(table): \(rows)") }
        try Output.say("copied")
    }
}
