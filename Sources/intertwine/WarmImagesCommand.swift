import ArgumentParser
import IntertwineService
import Synchronization

struct WarmImagesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "warm-images",
        abstract: "Request the images of a running service's feeds, so that they are cached.",
        discussion: """
            The command pages through each feed, and requests the images of its cells in the sizes of the cells. From then on, the cells have
            the placeholder, color and size of their images. Images for viewers have a higher priority.

              intertwine warm-images --scale 2 --scale 3 --query layout=table
            """)

    @OptionGroup var options: SettingOptions

    @Option(help: "URL of the service (default: its listener).")
    var url: String?

    @Option(name: .customLong("feed"), help: "Paths of feeds, such as /feeds/main.")
    var feeds: [String] = []

    @Option(help: "Query parameters to send, such as layout=table&width=390.")
    var query = ""

    @Option(name: .customLong("scale"), help: "Pixels per point, 1 to 3 (default: 1, 2 and 3).")
    var scales: [Int] = []

    @Option(help: "Accept field of the requests.")
    var accept = "image/avif,image/webp,image/*,*/*;q=0.8"

    @Option(help: "Number of concurrent requests, 1 to 64.")
    var parallel = 4

    func validate() throws {
        guard scales.allSatisfy({ (1...3).contains($0) }) else { throw ValidationError("--scale must be 1, 2 or 3") }
        guard (1...64).contains(parallel) else { throw ValidationError("--parallel must be from 1 to 64") }
        guard feeds.allSatisfy({ $0.hasPrefix("/") }) else { throw ValidationError("--feed must be a path, such as /feeds/main") }
    }

    func run() async throws {
        let warmer = try FeedWarmer(
            try await options.configuration(), base: url, feeds: feeds.isEmpty ? ["/feed"] : feeds, query: query,
            scales: scales.isEmpty ? [1, 2, 3] : scales, accept: accept, parallel: parallel)
        let isTerminal = Output.isTerminal
        let outcome = try await warmer.run { outcome in
            if isTerminal { Output.write("\r\(outcome.pages) pages, \(outcome.images) images") }
        }
        if isTerminal { Output.write("\r") }
        let failures = outcome.failures.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        try Output.say(
            "\(outcome.pages) pages, \(outcome.images) images"
                + (failures.isEmpty ? "" : "; failed: \(failures.joined(separator: ", "))"))
    }
}
