import ArgumentParser

/// The command line, nothing else.
@main
struct Intertwine: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "intertwine",
        abstract: "Serves feeds of cell view models, and performs what people do with the cells.",
        discussion: """
            Every setting is a key of the configuration file; flags beat the environment (INTERTWINE_…), which beats the file.

              intertwine import Config/sample/feed.json
              intertwine serve --port 8080
              curl http://127.0.0.1:8080/feed
            """,
        version: "0.1.0",
        subcommands: [Serve.self, Import.self, SyncCommand.self, Report.self, Export.self, ImageURL.self, Schema.self, CheckConfig.self])
}
