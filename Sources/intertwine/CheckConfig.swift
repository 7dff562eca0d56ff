import ArgumentParser
import Service

struct CheckConfig: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print every setting as it is in force, and where it comes from.",
        discussion: "  intertwine check-config --config Config/intertwine.yaml")

    @OptionGroup var options: SettingOptions

    func run() async throws {
        let configuration = try await options.configuration()
        for setting in configuration.settings + (try configuration.sourceSettings()) {
            print("\(setting.key)=\(setting.shown)  # \(setting.origin)")
        }
    }
}
