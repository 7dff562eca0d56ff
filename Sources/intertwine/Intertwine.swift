import ArgumentParser
import IntertwineService

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
        version: FeedService.version,
        subcommands: [
            Serve.self, Import.self, SyncCommand.self, TakedownCommand.self, Report.self, Export.self, ImageURL.self, Schema.self,
            CheckConfig.self,
        ])

    static func main() async {
        do {
            var command = try parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch let error as ConfigurationError {
            for reason in error.reasons { Output.complain("Error: \(reason)") }
            exit(withError: ExitCode.failure)
        } catch {
            exit(withError: error)
        }
    }
}
