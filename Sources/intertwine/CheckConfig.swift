import ArgumentParser
import IntertwineService

struct CheckConfig: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print every setting as it is in force, and where it comes from; or all that is wrong, a line each.",
        discussion: """
            Looks through the configuration, the commands that actions name, and the files under feed.kinds and sources.file, as a start does.

              intertwine check-config --config Config/intertwine.yaml
            """)

    @OptionGroup var options: SettingOptions

    func run() async throws {
        let configuration = try await options.checkedConfiguration()
        try configuration.check()
        let settings = configuration.settings + (try configuration.sourceSettings())
        try Output.put(settings.map { "\($0.key)=\($0.shown)  # \($0.origin)\n" }.joined().utf8)
    }
}
