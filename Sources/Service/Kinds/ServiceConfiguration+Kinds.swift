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

    /// What the ids of advertisements' cells begin with, before the colon: those that a report by advertisement is about.
    ///
    /// - Throws: as ``itemKinds(_:)`` does.
    public func advertisementPrefixes(_ extensions: ServiceExtensions = ServiceExtensions()) throws(ConfigurationError) -> [String] {
        try kindsFile(extensions).advertisementPrefixes
    }

    /// The same file, looked through as a start does: what its actions and cells name must be there.
    private func checkedKindsFile(_ extensions: ServiceExtensions) throws(ConfigurationError) -> KindsFile {
        let file = try kindsFile(extensions)
        guard !feed.kinds.isEmpty else { return file }
        do { try checkCells(extensions, kinds: file) } catch { throw error as? ConfigurationError ?? ConfigurationError("\(error)") }
        return file
    }

    /// What the file under `feed.kinds` declares; nothing where none is named.
    func kindsFile(_ extensions: ServiceExtensions) throws(ConfigurationError) -> KindsFile {
        try kindsFile(of: kindsText(), extensions)
    }

    /// The text of that file; nil where none is named.
    func kindsText() throws(ConfigurationError) -> String? {
        feed.kinds.isEmpty ? nil : try YAMLFile.text(at: feed.kinds, of: "feed.kinds")
    }

    /// - Parameter text: of the file, perhaps from a while ago.
    func kindsFile(of text: String?, _ extensions: ServiceExtensions) throws(ConfigurationError) -> KindsFile {
        guard let text else { return .none }
        return try KindsFile(
            YAMLFile.root(of: text, from: feed.kinds), policy: FailurePolicy(rawValue: actions.onFailure.rawValue) ?? .stop,
            besides: ItemKinds.standard.adding(extensions.kinds))
    }
}
