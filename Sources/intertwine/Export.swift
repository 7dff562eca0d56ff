import ArgumentParser

struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write out what the service recorded.", subcommands: [ExportEvents.self])
}
