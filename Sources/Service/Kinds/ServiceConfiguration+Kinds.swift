public import Feed

extension ServiceConfiguration {
    /// The kinds of item that import and operators may put into the store: users, advertisements, those of an embedding program, and those
    /// that the file under `feed.kinds` declares.
    ///
    /// - Throws: ``ConfigurationError`` with file and line where that file is wrong.
    public func itemKinds(_ extensions: ServiceExtensions = ServiceExtensions()) throws(ConfigurationError) -> ItemKinds {
        ItemKinds.standard.adding(extensions.kinds).adding(try checkedKindsFile(extensions).kinds)
    }

    /// How a store is to be laid out for the feeds that the same file declares.
    ///
    /// - Throws: as ``itemKinds(_:)`` does.
    public func sectionPlans(_ extensions: ServiceExtensions = ServiceExtensions()) throws(ConfigurationError) -> [SectionPlan] {
        try kindsFile(extensions).feeds.plans
    }

    /// The same file, looked through as a start does: what its actions and cells name must be there.
    private func checkedKindsFile(_ extensions: ServiceExtensions) throws(ConfigurationError) -> KindsFile {
        let file = try kindsFile(extensions)
        guard !feed.kinds.isEmpty else { return file }
        do {
            var registry = CommandRegistry.standard
            for command in extensions.commands { try registry.register(command) }
            _ = try cellFactories(file, extensions, commands: registry)
        } catch {
            throw error as? ConfigurationError ?? ConfigurationError("\(error)")
        }
        return file
    }

    /// What makes the cells of all kinds.
    ///
    /// - Throws: where the configuration, or the file with its line, names cells or commands that there are not.
    func cellFactories(_ file: KindsFile, _ extensions: ServiceExtensions, commands registry: CommandRegistry) throws -> CellFactories {
        var factories = try CellFactories.standard(cells, commands: registry)
        try extensions.registerCells(&factories, registry)
        try file.register(in: &factories, commands: registry, hasViewers: cells.hasViewers)
        return factories
    }

    /// What the file under `feed.kinds` declares; nothing where none is named.
    func kindsFile(_ extensions: ServiceExtensions) throws(ConfigurationError) -> KindsFile {
        guard !feed.kinds.isEmpty else { return .none }
        return try KindsFile(
            YAMLFile.root(at: feed.kinds), policy: FailurePolicy(rawValue: actions.onFailure.rawValue) ?? .stop,
            besides: ItemKinds.standard.adding(extensions.kinds))
    }
}
