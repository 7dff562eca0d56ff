internal import IntertwineFeed
internal import IntertwineImages

struct DeclaredFeeds: Sendable {
    static let mainName = SectionConfiguration.mainName
    /// The parameters that the pages of every feed have.
    static let parameters = ["limit", "cursor", "layout", "width", "scale", "changes", "client", "syncToken"]

    var sections: [DeclaredSection] = []
    var feeds: [String: [String]] = [:]
    var titles: [String: LocalizedText] = [:]
    var ads: [String: DeclaredAds] = [:]
    var rankers: [String: FetchURL] = [:]
    var filters: [String: [ItemFilter]] = [:]
    var following: Set<String> = []
    /// The field of each kind that names the author of its items.
    var authors: [String: String] = [:]

    var plans: [SectionConfiguration] {
        // A feed may show the section of all other kinds without a declaration of it.
        let main = sections.contains { $0.name == Self.mainName } ? [] : [DeclaredSection(name: Self.mainName)]
        return (sections + (filters.isEmpty && following.isEmpty ? [] : main)).map { section in
            var plan = SectionConfiguration(
                section.name, kinds: section.kinds, fields: [section.order.field].compactMap { $0 }, order: section.order)
            let shown = feeds.keys.sorted().filter { feeds[$0]?.contains(section.name) == true }
            plan.filters = shown.filter { !following.contains($0) }.compactMap { filters[$0] }
            plan.followed = shown.filter(following.contains).map { filters[$0] ?? [] }
            plan.authors = authors
            return plan
        }
    }
}

/// The advertisement settings of a feed or a section; a nil value is inherited from the level above.
struct DeclaredAds: Sendable, Hashable {
    var perPage: Int?
    var rule: PlacementRule?
    var isOfFeed: Bool?
}

struct DeclaredSection: Sendable {
    var name: String
    var title: LocalizedText?
    var kinds: [String] = []
    var order = SectionSort.imported
    var ads = DeclaredAds()
}

/// Reads `sections: {events: {title: …, kinds: […], order: …}}` and `feeds: {main: [events, main], other: {sections: [main], placement: …}}`.
struct FeedsReader {
    private static let nameLimit = 64
    private static let sectionLimit = 1_000
    private static let keys = ["title", "kinds", "order"] + adsKeys
    private static let adsKeys = ["ads", "placement", "scope"]

    let kinds: ItemKinds
    var languages = FeedLanguages.none
    var broken: Set<String> = []

    func feeds(sections: YAMLNode?, feeds: YAMLNode?) throws -> DeclaredFeeds {
        var declared = DeclaredFeeds()
        var faults = ErrorCollector()
        var orders: [YAMLNode?] = []
        let sections = try sections?.members("each section's name with \(Self.keys.joined(separator: ", "))") ?? []
        for (name, node) in sections {
            guard let section = faults.collect({ try self.section(name, at: node, after: declared.sections) }) else { continue }
            declared.sections.append(section.section)
            orders.append(section.order)
        }
        for (index, node) in orders.enumerated() {
            let order = faults.collect(node) { try self.order(of: declared.sections[index], at: $0, among: declared.sections) }
            declared.sections[index].order = order ?? .imported
        }
        for (name, node) in try feeds?.members("each feed's name with a list of its sections") ?? [] {
            faults.collect { try feed(name, at: node, among: sections.map(\.name), into: &declared) }
        }
        try faults.finish()
        return declared
    }

    /// Reads a list of sections, or more with one.
    private func feed(_ name: String, at node: YAMLNode, among names: [String], into declared: inout DeclaredFeeds) throws {
        try check(name, of: "feed", at: node)
        guard node.isMapping else {
            declared.feeds[name] = try sections(of: node, among: names)
            return
        }
        let members = try node.members(
            of: "feed '\(name)'", among: ["title", "sections", "source", "ranked-by", "filters"] + Self.adsKeys)
        declared.ads[name] = try ads(members)
        declared.titles[name] = try members["title"].map(title)
        declared.rankers[name] = try members["ranked-by"]?.value("the http or https URL of a ranker") { try? FetchURL($0) }
        if let node = members["source"] {
            declared.authors = try authors(for: node)
            declared.following.insert(name)
        }
        let sections = try self.sections(of: members.required("sections", "a list of the feed's sections"), among: names)
        declared.filters[name] = try members["filters"].map { try filters($0, of: sections, among: declared.sections) }
        declared.feeds[name] = sections
    }

    private func sections(of feed: YAMLNode, among declared: [String]) throws -> [String] {
        let known = declared + (declared.contains(SectionConfiguration.mainName) ? [] : [SectionConfiguration.mainName])
        let list = "a list of sections: \(known.joined(separator: ", "))"
        var names: [String] = []
        for node in try feed.elements(list) {
            let name = try node.text(list)
            guard known.contains(name) else { throw node.unknown("section", name, among: known) }
            guard !names.contains(name) else { throw node.error("the section '\(name)' occurs twice in the feed") }
            names.append(name)
        }
        guard (1...Self.sectionLimit).contains(names.count) else { throw feed.error("a feed has 1 to \(Self.sectionLimit) sections") }
        return names
    }

    private func authors(for node: YAMLNode) throws -> [String: String] {
        _ = try node.value("following") { $0 == "following" ? $0 : nil }
        let authors = contentKinds(among: kinds.names).compactMap { kind in kind.author.map { (kind.name, $0) } }
        guard !authors.isEmpty || !broken.isEmpty else {
            throw node.error("no kind declares its author, so that no author can be followed")
        }
        return Dictionary(uniqueKeysWithValues: authors)
    }

    private func contentKinds(among names: [String]) -> [KindDeclaration] {
        names.compactMap { (kinds[$0] as? DeclaredKind)?.declaration }.filter { $0.stream == .content }
    }

    private func filters(_ node: YAMLNode, of sections: [String], among declared: [DeclaredSection]) throws -> [ItemFilter] {
        // The fields of kinds are unknown if one kind is invalid.
        guard broken.isEmpty else { return [] }
        let elsewhere = declared.filter { !sections.contains($0.name) }.flatMap(\.kinds)
        let listed = declared.filter { sections.contains($0.name) }.flatMap(\.kinds)
        let all = sections.contains(SectionConfiguration.mainName) ? kinds.names.filter { !elsewhere.contains($0) } : listed
        let fields = contentKinds(among: all).flatMap(\.fields)
        let known = fields.filter { ItemFilter($0) != nil }.map(\.name)
        var filters: [ItemFilter] = []
        for node in try node.elements("names of fields") {
            let name = try node.text("names of fields")
            let alike = fields.filter { $0.name == name }
            guard let field = alike.first, let filter = ItemFilter(field) else {
                throw node.unknown(
                    "filter", name, ": a choice, boolean, number, short text or tags of the feed's kinds", among: Set(known).sorted())
            }
            guard alike.allSatisfy({ ItemFilter($0).map { $0.form == filter.form && $0.choices == filter.choices } ?? false }) else {
                throw node.error("the kinds of the feed declare '\(name)' differently")
            }
            guard !DeclaredFeeds.parameters.contains(name) else { throw node.error("'\(name)' is a parameter of every feed") }
            guard !filters.contains(where: { $0.name == name }) else { throw node.error("the filter '\(name)' occurs twice") }
            filters.append(filter)
        }
        guard filters.count <= ItemFilter.countLimit else { throw node.error("a feed has at most \(ItemFilter.countLimit) filters") }
        return filters
    }

    private func section(
        _ name: String, at node: YAMLNode, after others: [DeclaredSection]
    ) throws -> (section: DeclaredSection, order: YAMLNode?) {
        try check(name, of: "section", at: node)
        let members = try node.members(of: "section '\(name)'", among: Self.keys)
        var section = DeclaredSection(name: name, title: try members["title"].map(title), ads: try ads(members))
        if name != SectionConfiguration.mainName {
            section.kinds = try kinds(members.required("kinds", "the kinds of the section's items"), besides: others)
        } else if let kinds = members["kinds"] {
            throw kinds.error("the section '\(name)' holds every kind that no other section holds; it cannot list kinds")
        }
        return (section, members["order"])
    }

    private func ads(_ members: YAMLMembers) throws -> DeclaredAds {
        DeclaredAds(
            perPage: try members["ads"]?.value(in: 0...20),
            rule: try members["placement"]?.value(PlacementRule.allowed) { PlacementRule($0) },
            isOfFeed: try members["scope"]?.value("page, feed") { ["page": false, "feed": true][$0] })
    }

    private func title(_ node: YAMLNode) throws -> LocalizedText {
        try node.label("title", limit: SectionHeader.titleLimit, in: languages)
    }

    private func kinds(_ node: YAMLNode, besides others: [DeclaredSection]) throws -> [String] {
        let content = kinds.names.filter { kinds[$0]?.stream == .content }
        let allowed = content.joined(separator: ", ")
        var names: [String] = []
        for node in node.elements {
            let name = try node.text("names of kinds: \(allowed)")
            guard kinds[name] != nil || broken.contains(name) else { throw node.unknown("kind", name, among: content) }
            guard kinds[name]?.stream == .content || broken.contains(name) else {
                throw node.error("'\(name)' is a kind of ads, which every section can show; allowed: \(allowed)")
            }
            if let section = others.first(where: { $0.kinds.contains(name) }) {
                throw node.error("the section '\(section.name)' already holds the kind '\(name)'")
            }
            guard !names.contains(name) else { throw node.error("the kind '\(name)' occurs twice") }
            names.append(name)
        }
        guard !names.isEmpty else { throw node.error("a section needs at least one kind; allowed: \(allowed)") }
        return names
    }

    private func order(of section: DeclaredSection, at node: YAMLNode, among sections: [DeclaredSection]) throws -> SectionSort {
        // The fields of kinds are unknown if one kind is invalid.
        guard broken.isEmpty else { return .imported }
        let allowed = "imported, newest, field NAME, field NAME descending"
        let text = try node.text(allowed)
        let words = text.split(separator: " ").map(String.init)
        switch words.count {
        case 1 where words[0] == "imported": return .imported
        case 1 where words[0] == "newest": return .newest
        case 2 where words[0] == "field", 3 where words[0] == "field" && words[2] == "descending":
            let field = try self.field(words[1], of: section, at: node, among: sections)
            guard section.ads.rule != .pinned else {
                throw node.error("'\(section.name)' is ordered by a field: pinned ads require the order of import")
            }
            return SectionSort(by: field, isDescending: words.count == 3)
        default: throw node.notAllowed(text, allowed)
        }
    }

    private func field(
        _ name: String, of section: DeclaredSection, at node: YAMLNode, among sections: [DeclaredSection]
    ) throws -> SortField {
        let sectionKinds = sections.flatMap(\.kinds)
        let kindNames = section.name == SectionConfiguration.mainName ? kinds.names.filter { !sectionKinds.contains($0) } : section.kinds
        let fields = kindNames.compactMap { kinds[$0] }.filter { $0.stream == .content }.map { Set($0.sortFields) }
        let common = fields.dropFirst().reduce(fields.first ?? []) { $0.intersection($1) }
        guard let field = common.first(where: { $0.name == name }) else {
            let shown = ItemError.shown(name)
            guard !common.isEmpty else {
                let all = kindNames.joined(separator: ", ")
                throw node.error(
                    "'\(section.name)' cannot be ordered by '\(shown)': its kinds (\(all)) have no text, number or date in common that all "
                        + "their items have. Declare the field in each of them with required: true, or order by imported or newest")
            }
            throw node.unknown(
                "field", name, " to order '\(section.name)' by: a required text, number or date of all its kinds",
                among: common.map(\.name).sorted())
        }
        return field
    }

    private func check(_ name: String, of thing: String, at node: YAMLNode) throws {
        let first = name.utf8.first.map { ($0 | 0x20) &- UInt8(ascii: "a") < 26 } ?? false
        guard first, SortField(name, .text) != nil, name.utf8.count <= Self.nameLimit else {
            throw node.error(
                "'\(ItemError.shown(name))' is not a valid \(thing) name: a letter followed by letters, digits, _ or -, at most \(Self.nameLimit)"
            )
        }
    }
}
