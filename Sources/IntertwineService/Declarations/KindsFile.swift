internal import IntertwineFeed

struct KindsFile {
    private var declared: [(kind: DeclaredKind, node: YAMLNode)] = []
    private(set) var feeds = DeclaredFeeds()
    private(set) var languages = FeedLanguages.none
    private(set) var labels: [CommandKey: LocalizedText] = [:]
    /// The label of ads, and the alternative text of their images.
    private(set) var advertisement = FeedLanguages.none.advertisement
    private(set) var broken: Set<String> = []

    static var none: KindsFile { KindsFile() }

    private init() {}

    init(_ root: YAMLNode, policy: FailurePolicy, besides known: ItemKinds) throws(ConfigurationError) {
        var faults = ErrorCollector()
        self.init(root, policy: policy, besides: known, errors: &faults)
        try faults.finish()
    }

    /// Valid declarations are kept, so that later checks can use them.
    init(_ root: YAMLNode, policy: FailurePolicy, besides known: ItemKinds, errors: inout ErrorCollector) {
        let keys = ["languages", "labels", "alt", "kinds", "sections", "feeds"]
        guard let members = errors.collect({ try root.members(of: "the file", among: keys) }) else { return }
        let languages = errors.collect(members["languages"]) { try $0.languages() } ?? FeedLanguages.none
        let alternatives = errors.collect(members["alt"]) { try $0.members(of: "alt", among: ["advertisement"]) }
        self.languages = languages
        labels = errors.collect(members["labels"]) { try $0.labels(in: languages) } ?? [:]
        advertisement =
            errors.collect(alternatives?["advertisement"]) { try $0.localizedText("a text to display", in: languages) }
            ?? languages.advertisement
        let reader = KindReader(policy: policy, languages: languages, labels: labels)
        let nodes = errors.collect(members["kinds"]) { try $0.members("each kind's name with its declaration") } ?? []
        for (name, node) in nodes {
            let kind = errors.collect { try Self.kind(name, at: node, by: reader, besides: known.names) }
            if let kind { declared.append((kind, node)) } else { broken.insert(name) }
        }
        let feedsReader = FeedsReader(kinds: known.adding(kinds), languages: languages, broken: broken)
        feeds = errors.collect { try feedsReader.feeds(sections: members["sections"], feeds: members["feeds"]) } ?? feeds
    }

    private static func kind(_ name: String, at node: YAMLNode, by reader: KindReader, besides reserved: [String]) throws -> DeclaredKind {
        guard !reserved.contains(name) else {
            throw node.error("the kind '\(name)' already exists; reserved names: \(reserved.sorted().joined(separator: ", "))")
        }
        let declaration = try reader.declaration(name, at: node)
        do {
            return try DeclaredKind(declaration)
        } catch {
            let reasons = DeclaredKind.errors(in: declaration).flatMap { fault in
                node.node(at: fault.path).error("\(ItemError.shown(name)): \(fault.reason)").reasons
            }
            throw ConfigurationError(reasons) ?? node.error(error.reason)
        }
    }

    var kinds: [DeclaredKind] { declared.map(\.kind) }

    var advertisementPrefixes: [String] { ["ad"] + kinds.filter { $0.stream == .advertisements }.map(\.prefix) }

    func register(
        in factories: inout CellFactories, commands: CommandRegistry, hasViewers: Bool
    ) throws(ConfigurationError) {
        var faults = ErrorCollector()
        factories.advertisementLabel = advertisement
        for (kind, node) in declared {
            do {
                try factories.register(kind, commands: commands, hasViewers: hasViewers)
            } catch {
                faults.reasons += node.node(at: error.path).error(error.reason).reasons
            }
        }
        try faults.finish()
    }
}
