import IntertwineFeed
import Testing

@Suite("Commands by configuration")
struct SlotCommandsTests {
    func configuration(_ change: (inout CellConfiguration) -> Void, hasViewers: Bool = true) -> CellConfiguration {
        var configuration = CellConfiguration(hasViewers: hasViewers)
        change(&configuration)
        return configuration
    }

    @Test("refuses an unknown command with its name and the known ones")
    func unknown() throws {
        let wrong = configuration { $0.userCommands[.selection] = ["analytics", "presnt"] }
        let error = #expect(throws: CellCommandsError.self) { try CellFactories.standard(wrong) }
        #expect(
            error?.description
                == "unknown command 'presnt' in user selection; known are analytics, cancel-images, clickthrough, dismiss, present, restore, save, unsave"
        )
    }

    @Test("refuses a command that acts for a viewer where there can be none, with its name", arguments: ["save", "dismiss"])
    func withoutViewers(name: String) throws {
        let wrong = configuration({ $0.advertisementCommands[.selection] = SlotCommands([name]) }, hasViewers: false)
        let error = #expect(throws: CellCommandsError.self) { try CellFactories.standard(wrong) }
        #expect(error?.description == "command '\(name)' in ad selection needs a viewer, which is missing")
        _ = try CellFactories.standard(CellConfiguration(hasViewers: false))
    }

    @Test("refuses a command whose needs the kind of cell does not meet")
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

    @Test("takes a new command by one registration, and refuses its name a second time")
    func registration() throws {
        var registry = CommandRegistry.standard
        try registry.register(RemoteCommand(name: "book", effects: Effects()))
        _ = try CellFactories.standard(configuration { $0.userCommands[.selection] = ["book"] }, commands: registry)
        #expect(throws: CellCommandsError.registeredTwice("save")) { try registry.register(SaveCommand()) }
    }

    @Test("refuses contradicting registrations of factories")
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
