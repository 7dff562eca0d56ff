import ArgumentParser
import Glibc
import IntertwineFeed
import IntertwineService

/// The root command of the command line.
///
/// All commands define their names. Why: a name that is derived from the type costs each start some milliseconds.
@main
struct Intertwine: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "intertwine",
        abstract: "Serves feeds of cell view models, and performs what people do with the cells.",
        discussion: """
            Every setting is a key of the configuration file; flags beat the environment (INTERTWINE_STORE_DATABASE), which beats the file.

              intertwine import Config/sample/feed.json
              intertwine serve --port 8080
              curl http://127.0.0.1:8080/feed
            """,
        version: FeedService.version,
        subcommands: [
            ServeCommand.self, ImportCommand.self, SyncCommand.self, TakedownCommand.self, ReportCommand.self, TrackersCommand.self,
            ExportCommand.self, ForecastCommand.self,
            WarmCommand.self, RotateKeyCommand.self, CopyCommand.self,
            ImageURLCommand.self, SchemaCommand.self, CheckConfigCommand.self,
        ])

    static func main() async {
        // If a standard stream is closed, the next opened file would get its number, and log lines would be written into that file.
        while case let number = open("/dev/null", O_RDWR), number >= 0 {
            guard number > STDERR_FILENO else { continue }
            close(number)
            break
        }
        do {
            var command = try parseAsRoot()
            // The check is done before the first task, because the task pool waits forever if it gets no thread.
            try ThreadLimit.require(ThreadLimit.ofCommands)
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch let error as ConfigurationError {
            for reason in error.reasons { Output.printError("Error: \(reason)") }
            exit(withError: ExitCode.failure)
        } catch {
            exit(withError: error)
        }
    }
}

struct CheckConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check-config",
        abstract: "Print every setting as it is in force, and where it comes from; or all that is wrong, a line each.",
        discussion: """
            Looks through the configuration, the commands that actions name, and the files under feed.kinds, sources.file, ads.campaigns and
            images.fallbacks, as a start does; holds campaigns against the store where there is one, and says on standard error where not.

              intertwine check-config --config Config/intertwine.yaml
            """)

    @OptionGroup var options: SettingOptions

    func run() async throws {
        let configuration = try await options.checkedConfiguration()
        try configuration.check()
        for line in try await configuration.checkStoredCampaigns() { Output.printError(line) }
        let settings = configuration.settings + (try configuration.sourceSettings())
        try Output.put(settings.map { "\($0.key)=\($0.shown)  # \($0.origin)\n" }.joined().utf8)
    }
}

struct ImageURLCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "image-url",
        abstract: "Mint the proxy's URL of an image.",
        discussion: "  curl \"http://127.0.0.1:8080$(intertwine image-url https://example.com/image.png)\"")

    @OptionGroup var options: SettingOptions

    @Argument(help: "The image's own URL.")
    var url: String

    func run() async throws {
        try Output.say(try ImageAddress.mint(url, configuration: try await options.configuration()))
    }
}

struct SchemaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print the JSON Schema (2020-12) of a kind of item, as import checks it.",
        discussion: """
              intertwine schema user
              intertwine schema --set feed.kinds=Config/kinds.yaml event
            """)

    @OptionGroup var options: SettingOptions

    @Argument(help: "The kind of the items.")
    var kind: String

    func run() async throws {
        let kinds = try await options.configuration().itemKinds()
        guard let found = kinds[kind] else { throw ExitError("\(kind): no such kind; there are \(kinds.names.joined(separator: ", "))") }
        try Output.put(found.schema() + [UInt8(ascii: "\n")])
    }
}
