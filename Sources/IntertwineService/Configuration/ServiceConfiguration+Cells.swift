internal import IntertwineFeed

extension ServiceConfiguration {
    /// The factories of all cells: the product's own, those of an embedding program, and those that the file under `feed.kinds` declares.
    ///
    /// - Throws: ``ConfigurationError`` with the setting or with file and line.
    func cellFactories(
        _ extensions: ServiceExtensions, commands registry: CommandRegistry, kinds file: KindsFile
    ) throws(ConfigurationError) -> CellFactories {
        var factories = try Self.factories(cells, commands: registry)
        do { try extensions.registerCells(&factories, registry) } catch {
            throw error as? ConfigurationError ?? ConfigurationError("\(error)")
        }
        try file.register(in: &factories, commands: registry, hasViewers: cells.hasViewers)
        return factories
    }

    static func factories(_ cells: CellConfiguration, commands registry: CommandRegistry) throws(ConfigurationError) -> CellFactories {
        do {
            return try .standard(cells, commands: registry)
        } catch {
            throw (error as? CommandPlanError).map(ConfigurationError.init) ?? ConfigurationError("\(error)")
        }
    }
}

extension CellConfiguration {
    /// One configuration for each slot, with nothing in all others.
    var alone: [CellConfiguration] {
        var empty = self
        (empty.userCommands, empty.advertisementCommands) = ([:], [:])
        let users = CommandKey.standard.compactMap { slot in
            userCommands[slot].map { commands in
                var cells = empty
                cells.userCommands[slot] = commands
                return cells
            }
        }
        let advertisements = CommandKey.standard.compactMap { slot in
            advertisementCommands[slot].map { commands in
                var cells = empty
                cells.advertisementCommands[slot] = commands
                return cells
            }
        }
        return users + advertisements
    }
}

extension ConfigurationError {
    /// Names the setting that put the command where it cannot stand.
    fileprivate init(_ error: CommandPlanError) {
        switch error {
        case .unknownCommand(_, let kind, let slot, _), .fixedSlot(let slot, let kind),
            .unusableSlot(let slot, let kind, _), .unusableInput(let slot, let kind, _):
            self.init("actions.\(kind).\(slot.rawValue): \(error)")
        case .unmetNeeds(_, let needs, let kind, let slot):
            let hint = needs.contains(.viewer) ? ": events.viewer-header is empty" : ""
            self.init("actions.\(kind).\(slot.rawValue): \(error)\(hint)")
        case .registeredTwice: self.init("\(error)")
        }
    }
}
