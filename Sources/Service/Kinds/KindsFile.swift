internal import Feed

/// The kinds of item, the sections and the feeds that a file declares. `Config/kinds.yaml` shows some.
struct KindsFile {
    private let declared: [(kind: DeclaredKind, place: YAMLPlace)]
    let feeds: DeclaredFeeds

    /// Declares nothing.
    static var none: KindsFile { KindsFile(declared: [], feeds: DeclaredFeeds()) }

    private init(declared: [(kind: DeclaredKind, place: YAMLPlace)], feeds: DeclaredFeeds) {
        self.declared = declared
        self.feeds = feeds
    }

    /// - Parameters:
    ///   - policy: what an action does when one of its commands fails.
    ///   - known: the kinds that there are without the file.
    /// - Throws: ``ConfigurationError`` with file and line for the first thing that is wrong.
    init(_ root: YAMLPlace, policy: FailurePolicy, besides known: ItemKinds) throws(ConfigurationError) {
        let members = try root.members(of: "the file", among: ["kinds", "sections", "feeds"])
        declared =
            try members["kinds"].map { kinds throws(ConfigurationError) in
                try Self.kinds(kinds, policy: policy, besides: known.names)
            } ?? []
        feeds = try FeedsReader(kinds: known.adding(declared.map(\.kind))).feeds(sections: members["sections"], feeds: members["feeds"])
    }

    private static func kinds(
        _ kinds: YAMLPlace, policy: FailurePolicy, besides taken: [String]
    ) throws(ConfigurationError) -> [(kind: DeclaredKind, place: YAMLPlace)] {
        let reader = KindReader(policy: policy)
        var declared: [(kind: DeclaredKind, place: YAMLPlace)] = []
        for (name, place) in try kinds.members("each kind's name with its declaration") {
            guard !taken.contains(name) else {
                throw place.fault("there is a kind '\(name)' already; the names \(taken.sorted().joined(separator: ", ")) are taken")
            }
            let declaration = try reader.declaration(name, at: place)
            do {
                declared.append((try DeclaredKind(declaration), place))
            } catch {
                throw place.place(at: error.path).fault("\(ItemFault.shown(name)): \(error.reason)")
            }
        }
        return declared
    }

    var kinds: [DeclaredKind] { declared.map(\.kind) }

    /// What the ids of advertisements' cells begin with, those of the kind that the product comes with among them.
    var advertisementPrefixes: [String] { ["ad"] + kinds.filter { $0.lane == .advertisements }.map(\.prefix) }

    /// Registers the cells of all its kinds.
    ///
    /// - Throws: ``ConfigurationError`` with file and line where an action names a command that is unknown or cannot stand there.
    func register(
        in factories: inout CellFactories, commands: CommandRegistry, hasViewers: Bool
    ) throws(ConfigurationError) {
        for (kind, place) in declared {
            do {
                try factories.register(kind, commands: commands, hasViewers: hasViewers)
            } catch {
                throw place.place(at: error.path).fault(error.reason)
            }
        }
    }
}
