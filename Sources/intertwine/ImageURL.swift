import ArgumentParser
import IntertwineService

struct ImageURL: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "image-url",
        abstract: "Mint the proxy's URL of a picture.",
        discussion: "  curl \"http://127.0.0.1:8080$(intertwine image-url https://example.com/picture.png)\"")

    @OptionGroup var options: SettingOptions

    @Argument(help: "The picture's own URL.")
    var url: String

    func run() async throws {
        try Output.say(try ImageAddress.mint(url, configuration: try await options.configuration()))
    }
}
