import ArgumentParser

struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write out what the service recorded.",
        discussion: "  intertwine export events > events.ndjson", subcommands: [ExportEvents.self])
}
