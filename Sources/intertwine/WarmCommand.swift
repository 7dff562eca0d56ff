import ArgumentParser
import IntertwineService
import Synchronization

struct WarmCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "warm",
        abstract: "Have a running service make the images of its feeds, before readers ask for them.",
        discussion: """
            Walks each feed to its end and asks for the images of its cells, in the sizes in which they are shown. What they look like
            (placeholder, colour, size) stands in the cells from then on. Readers' own images go first.

              intertwine warm --scale 2 --scale 3 --query layout=table
            """)

    @OptionGroup var options: SettingOptions

    @Option(help: "The service's URL; that of its own listener if nothing is said.")
    var url: String?

    @Option(name: .customLong("feed"), help: "Paths of feeds, such as /feeds/main.")
    var feeds: [String] = []

    @Option(help: "What is said of clients, such as layout=table&width=390.")
    var query = ""

    @Option(name: .customLong("scale"), help: "Pixels per point, 1 to 3; 1, 2 and 3 if nothing is said.")
    var scales: [Int] = []

    @Option(help: "The formats that clients take.")
    var accept = "image/avif,image/webp,image/*,*/*;q=0.8"

    @Option(help: "Images at once, 1 to 64.")
    var parallel = 4

    func validate() throws {
        guard scales.allSatisfy({ (1...3).contains($0) }) else { throw ValidationError("--scale is 1, 2 or 3") }
        guard (1...64).contains(parallel) else { throw ValidationError("--parallel is 1 to 64") }
        guard feeds.allSatisfy({ $0.hasPrefix("/") }) else { throw ValidationError("--feed is a path, such as /feeds/main") }
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
                + (failures.isEmpty ? "" : "; not fetched: \(failures.joined(separator: ", "))"))
    }
}
