internal import IntertwineFeed

struct KindsFile {
    private let declared: [(kind: DeclaredKind, node: YAMLNode)]
    let feeds: DeclaredFeeds
    let languages: FeedLanguages
    let labels: [CommandKey: LocalizedText]
    /// The label of ads, and the alternative text of their images.
    let advertisement: LocalizedText
    private(set) var broken: Set<String> = []

    static var none: KindsFile { KindsFile() }

    private init() {
        (declared, feeds, languages, labels, advertisement) = ([], DeclaredFeeds(), .none, [:], FeedLanguages.none.advertisement)
    }

    init(_ root: YAMLNode, policy: FailurePolicy, besides known: ItemKinds) throws(ConfigurationError) {
        var faults = ErrorCollector()
        self.init(root, policy: policy, besides: known, errors: &faults)
        try faults.finish()
    }

    /// Valid declarations are kept, so that later checks can use them.
    init(_ root: YAMLNode, policy: FailurePolicy, besides known: ItemKinds, errors: inout ErrorCollector) {
        let members =
            errors.collect { () throws(ConfigurationError) in
                try root.members(of: "the file", among: ["languages", "labels", "alt", "kinds", "sections", "feeds"])
            } ?? [:]
        let languages = members["languages"].flatMap { node in
            errors.collect { () throws(ConfigurationError) in try node.languages() }
        }
        self.languages = languages ?? .none
        let declaredLanguages = self.languages
        labels =
            members["labels"].flatMap { node in
                errors.collect { () throws(ConfigurationError) in try node.labels(in: declaredLanguages) }
            } ?? [:]
        let advertisement = members["alt"].flatMap { node in
            errors.collect { () throws(ConfigurationError) in
                let texts = try node.members(of: "alt", among: ["advertisement"])
                return try texts["advertisement"]?.localizedText("a text to display", in: declaredLanguages)
            } ?? nil
        }
        self.advertisement = advertisement ?? declaredLanguages.advertisement
        let reader = KindReader(policy: policy, languages: self.languages, labels: labels)
        let nodes = members["kinds"].flatMap { kinds in
            errors.collect { () throws(ConfigurationError) in try kinds.members("each kind's name with its declaration") }
        }
        var declared: [(kind: DeclaredKind, node: YAMLNode)] = []
        for (name, node) in nodes ?? [] {
            let kind = errors.collect { () throws(ConfigurationError) in
                try Self.kind(name, at: node, by: reader, besides: known.names)
            }
            if let kind { declared.append((kind, node)) } else { broken.insert(name) }
        }
        let feeds = FeedsReader(kinds: known.adding(declared.map(\.kind)), languages: self.languages, broken: broken)
        self.declared = declared
        self.feeds =
            errors.collect { () throws(ConfigurationError) in
                try feeds.feeds(sections: members["sections"], feeds: members["feeds"])
            } ?? DeclaredFeeds()
    }

    private static func kind(
        _ name: String, at node: YAMLNode, by reader: KindReader, besides reserved: [String]
    ) throws(ConfigurationError) -> DeclaredKind {
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
                faults.collect { () throws(ConfigurationError) in throw node.node(at: error.path).error(error.reason) }
            }
        }
        try faults.finish()
    }
}
