import ArgumentParser
import Glibc
import IntertwineFeed
import IntertwineService

/// All commands define their names. Why: a name that is derived from the type costs each start some milliseconds.
@main
struct Intertwine: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "intertwine",
        abstract: "A feed server: it serves pages of cell view models, and executes the actions of their viewers.",
        discussion: """
            Every setting is a key of the configuration file. Flags take precedence over the environment (INTERTWINE_STORE_DATABASE), and the
            environment over the file.

              intertwine serve --sample
              curl http://127.0.0.1:8080/feed
              intertwine health --ready

            Results are written to standard output, progress and errors to standard error. The exit code is 0 after success, 1 if the command was
            refused or failed, and 64 if its arguments are invalid.
            """,
        version: FeedService.version,
        subcommands: [
            ServeCommand.self, HealthCommand.self,
            ImportCommand.self, SyncCommand.self, TakedownCommand.self, ReportCommand.self, TrackerCallsCommand.self,
            ExportCommand.self, ForecastCommand.self, VoidCommand.self,
            BackupCommand.self, VerifyCommand.self, RestoreCommand.self,
            RotateKeyCommand.self, CopyStoreCommand.self,
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
        abstract: "Check the configuration, and print each effective setting with its origin, or one line for each error.",
        discussion: """
            The command checks the configuration, the commands of actions, and the files of kinds.file, sources.file, campaigns.file and
            images.fallbacks, as a start does. It also checks campaigns against an existing store; without a store, a line on standard error
            reports that.

              intertwine check-config --config Config/intertwine.yaml
              intertwine check-config --changed > changed.yaml
            """)

    @OptionGroup var options: SettingOptions

    @Flag(help: "Print the settings that differ from their defaults, as YAML for a configuration file. Secrets are left out.")
    var changed = false

    @Flag(help: .private)
    var reference = false

    func run() async throws {
        // The rows of which Tests/EndToEnd/DescriptionTests/run makes Config/intertwine.yaml and the reference page.
        guard !reference else { return try Output.say(ServiceConfiguration.reference) }
        let configuration = try await options.checkedConfiguration()
        try configuration.check()
        try await configuration.checkTokenKeys()
        for line in try await configuration.checkStoredCampaigns() { Output.printError(line) }
        guard !changed else { return try Output.put(configuration.changes.utf8) }
        let settings = configuration.settings + (try configuration.sourceSettings())
        try Output.put(settings.map { "\($0.key)=\($0.shown)  # \($0.origin)\n" }.joined().utf8)
    }
}

struct ImageURLCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "image-url",
        abstract: "Print the URL of an image on the image proxy.",
        discussion: "  curl \"http://127.0.0.1:8080$(intertwine image-url https://example.com/image.png)\"")

    @OptionGroup var options: SettingOptions

    @Argument(help: "URL of the image at its origin.")
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
              intertwine schema --set kinds.file=Config/kinds.yaml event
            """)

    @OptionGroup var options: SettingOptions

    @Argument(help: "Kind of item.")
    var kind: String

    func run() async throws {
        let kinds = try await options.configuration().itemKinds()
        guard let known = kinds[kind] else { throw ExitError("\(kind): no such kind; there are \(kinds.names.joined(separator: ", "))") }
        try Output.put(known.schema() + [UInt8(ascii: "\n")])
    }
}
