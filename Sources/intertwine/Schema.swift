import ArgumentParser
import IntertwineFeed
import IntertwineService

struct Schema: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the JSON Schema (2020-12) of a kind of item, as import checks it.",
        discussion: """
              intertwine schema user
              intertwine schema --set feed.kinds=Config/kinds.yaml event
            """)

    @OptionGroup var options: SettingOptions

    @Argument(help: "The kind: what the items' klass says.")
    var klass: String

    func run() async throws {
        let kinds = try await options.configuration().itemKinds()
        guard let kind = kinds[klass] else { throw Refusal("\(klass): no such kind; there are \(kinds.names.joined(separator: ", "))") }
        try Output.say(String(decoding: kind.schema(), as: UTF8.self))
    }
}
