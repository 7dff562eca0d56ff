import ArgumentParser
import Feed
import Foundation
import Service
import Storage

struct TakedownCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "takedown",
        abstract: "Keep items away, whoever brings them, until they are released.",
        discussion: """
            An item that is taken down leaves the store at once. Imports and sources leave it out and say so. It comes back
            with the next import, or the next time its source is asked, after it was released. A service may be running.

              intertwine takedown add user:tt --reason "complaint 4711"
              intertwine takedown list
              intertwine takedown release user:tt
            """,
        subcommands: [List.self, Add.self, Release.self], defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Print what is taken down: item, moment, reason.")

        private static let batch = 1_000

        @OptionGroup var options: SettingOptions

        func run() async throws {
            let store = try await options.existingStore().store
            var last: ItemKey?
            while true {
                let takedowns = try await store.takedowns(after: last, limit: Self.batch)
                try Output.put(takedowns.map(Self.line).joined().utf8)
                guard takedowns.count == Self.batch else { return }
                last = takedowns.last?.item
            }
        }

        private static func line(_ takedown: Takedown) -> String {
            let at = Date(timeIntervalSince1970: Double(takedown.at) / 1_000).formatted(.iso8601)
            return "\(takedown.item.kind):\(takedown.item.id)\t\(at)\t\(takedown.reason ?? "")\n".replacing("\u{1B}", with: "?")
        }
    }

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Remove items, and keep them away.")

        @OptionGroup var options: SettingOptions

        @Option(help: "Why, for whoever looks at the list.")
        var reason: String?

        @Argument(help: ArgumentHelp("Items, such as user:tt.", valueName: "klass:id"))
        var items: [String]

        func run() async throws {
            let (store, kinds) = try await options.existingStore()
            for key in try kinds.keys(items) {
                let wasThere = try await store.takeDown(key, reason: reason)
                try Output.say("\(key): taken down\(wasThere ? "" : "; it was not in the store")")
            }
        }
    }

    struct Release: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Let items come back, when somebody brings them.")

        @OptionGroup var options: SettingOptions

        @Argument(help: ArgumentHelp("Items, such as user:tt.", valueName: "klass:id"))
        var items: [String]

        func run() async throws {
            let (store, kinds) = try await options.existingStore()
            let keys = try kinds.keys(items)
            for key in keys where try await store.takedown(of: key) == nil {
                throw Refusal("\(key): is not taken down; nothing was released")
            }
            _ = try await store.release(keys)
            for key in keys { try Output.say("\(key): released") }
        }
    }
}

extension SettingOptions {
    /// The store that the configuration names, which has to be there, and the kinds of item.
    fileprivate func existingStore() async throws -> (store: SQLiteStore, kinds: ItemKinds) {
        let configuration = try await configuration()
        let path = configuration.store.database
        guard FileManager.default.fileExists(atPath: path) else {
            throw Refusal("\(path): there is no store; store.database, or --database, says where it is")
        }
        return (try SQLiteStore(path: path), try configuration.itemKinds())
    }
}

extension ItemKinds {
    fileprivate func keys(_ texts: [String]) throws -> [ItemKey] {
        try texts.map { text in
            guard let key = ItemKey(text, of: self) else {
                throw Refusal(
                    "'\(ItemFault.shown(text))' names no item: that is klass:id, such as user:tt; klass is one of \(names.joined(separator: ", "))"
                )
            }
            return key
        }
    }
}
