import Testing

@testable import IntertwineFeed

@Suite("Commands by configuration")
struct SlotCommandsTests {
    func configuration(_ change: (inout CellConfiguration) -> Void, hasViewers: Bool = true) -> CellConfiguration {
        var configuration = CellConfiguration(hasViewers: hasViewers)
        change(&configuration)
        return configuration
    }

    @Test("An unknown command is refused with its name and the known commands")
    func unknown() throws {
        let wrong = configuration { $0.userCommands[.selection] = ["analytics", "presnt"] }
        let error = #expect(throws: CellCommandsError.self) { try CellFactories.standard(wrong) }
        let text = error?.description ?? ""
        for part in ["'presnt'", "user selection", "analytics", "present"] { #expect(text.contains(part), "\(text)") }
    }

    @Test("A command that needs a viewer is refused by name if viewers are disabled", arguments: ["save", "dismiss"])
    func withoutViewers(name: String) throws {
        let wrong = configuration({ $0.advertisementCommands[.selection] = SlotCommands([name]) }, hasViewers: false)
        let error = #expect(throws: CellCommandsError.self) { try CellFactories.standard(wrong) }
        #expect(error?.description == "command '\(name)' in ad selection needs a viewer, which is missing")
        _ = try CellFactories.standard(CellConfiguration(hasViewers: false))
    }

    @Test("A command with needs that its kind of cell does not meet is refused")
    func needs() throws {
        #expect(throws: CellCommandsError.unmetNeeds("clickthrough", needs: .destination, kind: "user", slot: .selection)) {
            try CellFactories.standard(configuration { $0.userCommands[.selection] = ["clickthrough"] })
        }
        #expect(throws: CellCommandsError.unmetNeeds("present", needs: .presentation, kind: "ad", slot: .dismissal)) {
            try CellFactories.standard(configuration { $0.advertisementCommands[.dismissal] = ["present"] })
        }
        #expect(throws: CellCommandsError.fixedSlot(.configuration, kind: "user")) {
            try CellFactories.standard(configuration { $0.userCommands[.configuration] = ["analytics"] })
        }
    }

    @Test("A registered command is accepted, and a second registration of its name is refused")
    func registration() throws {
        var registry = CommandRegistry.standard
        try registry.register(RemoteCommand(name: "book", effects: Effects()))
        _ = try CellFactories.standard(configuration { $0.userCommands[.selection] = ["book"] }, commands: registry)
        #expect(throws: CellCommandsError.registeredTwice("save")) { try registry.register(Save()) }
    }

    @Test("Contradictory registrations of factories are refused")
    func factories() throws {
        let plan = try CellCommands(kind: "user", slots: [:], registry: .standard, offers: [])
        let factory = UserSnapshotCellFactory(plan: plan)
        var factories = CellFactories()
        try factories.register(factory, for: ItemType(kind: "user", variant: "regular"), prefix: "user")
        #expect(throws: CellFactoryError.registeredTwice(ItemType(kind: "user", variant: "regular"))) {
            try factories.register(factory, for: ItemType(kind: "user", variant: "regular"), prefix: "user")
        }
        #expect(throws: CellFactoryError.prefixTaken("person")) {
            try factories.register(factory, for: ItemType(kind: "user", variant: "featured"), prefix: "person")
        }
        #expect(throws: CellFactoryError.prefixTaken("user")) {
            try factories.register(factory, for: ItemType(kind: "event", variant: "x"), prefix: "user")
        }
        #expect(throws: CellFactoryError.streamConflict("user")) {
            try factories.register(factory, for: ItemType(kind: "user", variant: "x"), prefix: "user", stream: .advertisements)
        }
        for prefix in ["", "a:b"] {
            #expect(throws: CellFactoryError.unusablePrefix(prefix)) {
                try factories.register(factory, for: ItemType(kind: "other", variant: "x"), prefix: prefix)
            }
        }
    }
}
