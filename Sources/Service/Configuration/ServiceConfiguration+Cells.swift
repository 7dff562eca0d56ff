internal import Feed

extension ServiceConfiguration {
    /// Checks what no single setting tells: that the commands which actions name can stand there, and the file under `feed.kinds`.
    ///
    /// Opens no store.
    ///
    /// - Throws: ``ConfigurationError`` with the setting or with file and line, or what the extensions throw.
    public func checkCells(_ extensions: ServiceExtensions = ServiceExtensions()) throws {
        try checkCells(extensions, kinds: kindsFile(extensions))
    }

    /// The same for a file that has been read.
    func checkCells(_ extensions: ServiceExtensions, kinds file: KindsFile) throws {
        _ = try cellFactories(extensions, commands: extensions.registry(), kinds: file)
    }

    /// The factories of all cells: the product's own, those of an embedding program, and those that the file under `feed.kinds` declares.
    ///
    /// - Throws: as ``checkCells(_:)`` does.
    func cellFactories(
        _ extensions: ServiceExtensions, commands registry: CommandRegistry, kinds file: KindsFile
    ) throws -> CellFactories {
        var factories: CellFactories
        do {
            factories = try .standard(cells, commands: registry)
        } catch let error as CommandPlanError {
            throw ConfigurationError(error)
        }
        try extensions.registerCells(&factories, registry)
        try file.register(in: &factories, commands: registry, hasViewers: cells.hasViewers)
        return factories
    }
}

extension ConfigurationError {
    /// Names the setting that put the command where it cannot stand.
    fileprivate init(_ error: CommandPlanError) {
        switch error {
        case .unknownCommand(_, let kind, let slot, _), .fixedSlot(let slot, let kind):
            self.init("actions.\(kind).\(slot.rawValue): \(error)")
        case .unmetNeeds(_, let needs, let kind, let slot):
            let hint = needs.contains(.viewer) ? ": events.viewer-header is empty" : ""
            self.init("actions.\(kind).\(slot.rawValue): \(error)\(hint)")
        case .registeredTwice: self.init("\(error)")
        }
    }
}
