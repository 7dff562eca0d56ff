import ArgumentParser
import IntertwineService

struct CopyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy",
        abstract: "Copy everything that is kept from files to a PostgreSQL database, or back.",
        discussion: """
            Items, sections, takedowns, sources' lists, the ledger with its totals and viewers' lists, and the signing key; images and the audit
            log stay. It is refused while a service runs on either side. The destination has to be empty; a copy that was cut
            short goes on where it stopped when the command is run again. In the end all rows of both are counted and compared by digests.

              intertwine copy --from data/intertwine.sqlite --to postgresql://intertwine@db/intertwine
            """)

    @Option(help: "Where everything is: the SQLite file of the items, or postgresql://HOST/NAME.")
    var from: String

    @Option(help: "Where it is to be.")
    var to: String

    func run() async throws {
        let isTerminal = Output.isTerminal
        let counts = try await DatabaseCopy.run(from: from, to: to) { table, rows in
            if isTerminal { Output.write("\r\(table): \(rows)          ") }
        }
        if isTerminal { Output.write("\r") }
        for (table, rows) in counts where rows > 0 { try Output.say("\(table): \(rows)") }
        try Output.say("copied and compared; both have the same")
    }
}
