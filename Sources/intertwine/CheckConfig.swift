import ArgumentParser
import Service

struct CheckConfig: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print every setting as it is in force, and where it comes from.",
        discussion: "  intertwine check-config --config Config/intertwine.yaml")

    @OptionGroup var options: SettingOptions

    func run() async throws {
        let configuration = try await options.configuration()
        let settings = configuration.settings + (try configuration.sourceSettings())
        try configuration.checkCells()
        try Output.put(settings.map { "\($0.key)=\($0.shown)  # \($0.origin)\n" }.joined().utf8)
    }
}
