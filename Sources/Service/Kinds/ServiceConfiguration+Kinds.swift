public import Feed

extension ServiceConfiguration {
    /// The kinds of item that import and operators may put into the store: users, advertisements, those of an embedding program, and those
    /// that the file under `feed.kinds` declares.
    ///
    /// - Throws: ``ConfigurationError`` with file and line where that file is wrong.
    public func itemKinds(_ extensions: ServiceExtensions = ServiceExtensions()) throws(ConfigurationError) -> ItemKinds {
        ItemKinds.standard.adding(extensions.kinds).adding(try kindsFile(extensions).kinds)
    }

    /// How a store is to be laid out for the feeds that the same file declares.
    ///
    /// - Throws: as ``itemKinds(_:)`` does.
    public func sectionPlans(_ extensions: ServiceExtensions = ServiceExtensions()) throws(ConfigurationError) -> [SectionPlan] {
        try kindsFile(extensions).feeds.plans
    }

    /// What the file under `feed.kinds` declares; nothing where none is named.
    func kindsFile(_ extensions: ServiceExtensions) throws(ConfigurationError) -> KindsFile {
        guard !feed.kinds.isEmpty else { return .none }
        return try KindsFile(
            YAMLFile.root(at: feed.kinds, of: "feed.kinds"), policy: FailurePolicy(rawValue: actions.onFailure.rawValue) ?? .stop,
            besides: ItemKinds.standard.adding(extensions.kinds))
    }
}
