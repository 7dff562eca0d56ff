import ArgumentParser
import Foundation
import IntertwineFeed
import IntertwinePrimitives
import IntertwineService
import IntertwineStorage

struct TakedownCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "takedown",
        abstract: "Take items down until they are released.",
        discussion: """
            A takedown removes an item from the store at once. Imports and sources skip the item and report that. After its release, the next
            import or synchronization restores it. A service may be running.

              intertwine takedown add user:tt --reason "complaint 4711"
              intertwine takedown list
              intertwine takedown release user:tt
              intertwine takedown release campaign:spring
              intertwine takedown release --all
            """,
        subcommands: [ListCommand.self, AddCommand.self, ReleaseCommand.self], defaultSubcommand: ListCommand.self)

    struct ListCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "list", abstract: "Print the takedowns: item, time, reason.")

        @OptionGroup var options: SettingOptions

        func run() async throws {
            let store = try await options.existingStore().store
            try await store.forEachBatchOfTakedowns { try Output.put($0.map(Self.line).joined().utf8) }
        }

        private static func line(_ takedown: Takedown) -> String {
            let at = Timestamp.text(milliseconds: takedown.at)
            return "\("\(takedown.item.kind):\(takedown.item.id)".shown)\t\(at)\t\((takedown.reason ?? "").shown)\n"
        }
    }

    struct AddCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "add", abstract: "Take items down.")

        @OptionGroup var options: SettingOptions

        @Option(help: "Reason, shown in the list.")
        var reason: String?

        @Argument(help: ArgumentHelp("Items, such as user:tt.", valueName: "kind:id"))
        var items: [String]

        func run() async throws {
            let (configuration, store) = try await options.existingStore()
            let keys = try configuration.itemKinds().keys(items)
            let declared = Set(try configuration.declaredCampaigns().map(\.id))
            // The lines are printed after the audit entry, because a reader such as head can end the process by closing the pipe.
            let lines = try await configuration.audited("takedown", "add") { note in
                var lines: [String] = []
                for key in keys {
                    let change = try await store.takeDown(key, reason: reason)
                    note.record(["takenDown": 1], items: ["\(key)"])
                    let isDeclared = key.kind == Campaign.kind && declared.contains(key.id)
                    lines.append("\(key): taken down\(change.wasStored ? "" : isDeclared ? "" : "; it was not in the store")")
                }
                return lines
            }
            for line in lines { try Output.say(line) }
        }
    }

    struct ReleaseCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "release", abstract: "Release items, so that imports and sources can add them again.")

        @OptionGroup var options: SettingOptions

        @Flag(help: "Release all items that are taken down.")
        var all = false

        @Argument(help: ArgumentHelp("Items, such as user:tt.", valueName: "kind:id"))
        var items: [String] = []

        func validate() throws {
            guard all != !items.isEmpty else { throw ValidationError("name either items or --all") }
        }

        func run() async throws {
            let (configuration, store) = try await options.existingStore()
            let keys = try configuration.itemKinds().keys(items)
            for key in keys where try await store.takedown(of: key) == nil {
                throw ExitError("\(key): is not taken down; nothing was released")
            }
            let lines = try await configuration.audited("takedown", all ? "release --all" : "release") { note in
                guard all else {
                    note.record(["released": try await store.release(keys)], items: keys.map(\.description))
                    return keys.map { "\($0): released" }
                }
                var count = 0
                try await store.forEachBatchOfTakedowns { takedowns in
                    let keys = takedowns.map(\.item)
                    let released = try await store.release(keys)
                    note.record(["released": released], items: keys.map(\.description))
                    count += released
                }
                return ["released \(count)"]
            }
            for line in lines { try Output.say(line) }
        }
    }
}

extension ItemStore {
    fileprivate func forEachBatchOfTakedowns(_ body: ([Takedown]) async throws -> Void) async throws {
        let limit = 1_000
        var last: ItemKey?
        while true {
            let takedowns = try await takedowns(after: last, limit: limit)
            try await body(takedowns)
            guard takedowns.count == limit else { return }
            last = takedowns.last?.item
        }
    }
}

extension SettingOptions {
    /// Returns the configuration and its store, which must exist.
    fileprivate func existingStore() async throws -> (configuration: ServiceConfiguration, store: any ItemStore) {
        let configuration = try await configuration()
        let items = try configuration.store.items()
        guard items.isThere else {
            throw ExitError("\(items.shown): there is no store; set store.database, or --database")
        }
        return (configuration, try items.open(reading: ReadLimits()))
    }
}

extension ItemKinds {
    fileprivate func keys(_ texts: [String]) throws -> [ItemKey] {
        try texts.map { text in
            guard let key = ItemKey(text, of: self) else {
                throw ExitError(
                    "'\(ItemError.shown(text))' is not the name of an item; write kind:id, such as user:tt; kinds are \(names.joined(separator: ", "))"
                )
            }
            return key
        }
    }
}
