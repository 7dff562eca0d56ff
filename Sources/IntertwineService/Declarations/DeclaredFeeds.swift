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
    /// The URLs of the services that rank feeds.
    var rankers: [String: FetchURL] = [:]
    var filters: [String: [ItemFilter]] = [:]
    /// The feeds with the items of the authors that the viewer follows.
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

    func feeds(sections: YAMLNode?, feeds: YAMLNode?) throws(ConfigurationError) -> DeclaredFeeds {
        var declared = DeclaredFeeds()
        var faults = ErrorCollector()
        var nodes: [YAMLNode] = []
        var names: [String] = []
        for (name, node) in try sections?.members("each section's name with \(Self.keys.joined(separator: ", "))") ?? [] {
            names.append(name)
            let section = faults.collect { () throws(ConfigurationError) in try self.section(name, at: node, after: declared.sections) }
            guard let section else { continue }
            declared.sections.append(section)
            nodes.append(node)
        }
        for (index, node) in nodes.enumerated() {
            let order = faults.collect { () throws(ConfigurationError) in
                try self.order(of: declared.sections[index], at: node, among: declared.sections)
            }
            declared.sections[index].order = order ?? .imported
            if order?.field != nil, declared.sections[index].ads.rule == .pinned {
                faults.collect { () throws(ConfigurationError) in
                    throw node.error(
                        "'\(declared.sections[index].name)' is ordered by a field: pinned ads require the order of import")
                }
            }
        }
        for (name, node) in try feeds?.members("each feed's name with a list of its sections") ?? [] {
            declared.feeds[name] = faults.collect { () throws(ConfigurationError) in
                try check(name, of: "feed", at: node)
                // A list of sections, or more with one.
                guard node.isMapping else { return try self.sections(of: node, among: names) }
                let members = try node.members(
                    of: "feed '\(name)'", among: ["title", "sections", "source", "ranked-by", "filters"] + Self.adsKeys)
                declared.ads[name] = try ads(members)
                declared.titles[name] = try members["title"].map { title throws(ConfigurationError) in try self.title(title) }
                declared.rankers[name] = try members["ranked-by"].map { node throws(ConfigurationError) in
                    let allowed = "the http or https URL of a ranker"
                    let text = try node.text(allowed)
                    guard let url = try? FetchURL(text) else { throw node.notAllowed(text, allowed) }
                    return url
                }
                if let node = members["source"] {
                    declared.authors = try authors(for: node)
                    declared.following.insert(name)
                }
                guard let list = members["sections"] else { throw node.error("sections is missing: a list of the feed's sections") }
                let sections = try self.sections(of: list, among: names)
                if let node = members["filters"] { declared.filters[name] = try filters(node, of: sections, among: declared.sections) }
                return sections
            }
        }
        try faults.finish()
        return declared
    }

    private func sections(of feed: YAMLNode, among declared: [String]) throws(ConfigurationError) -> [String] {
        var known = declared
        if !known.contains(SectionConfiguration.mainName) { known.append(SectionConfiguration.mainName) }
        var names: [String] = []
        let list = "a list of sections: \(known.joined(separator: ", "))"
        for node in try feed.elements(list) {
            let name = try node.text(list)
            guard known.contains(name) else {
                throw node.unknown("section", name, among: known)
            }
            guard !names.contains(name) else { throw node.error("the section '\(name)' occurs twice in the feed") }
            names.append(name)
        }
        guard (1...Self.sectionLimit).contains(names.count) else { throw feed.error("a feed has 1 to \(Self.sectionLimit) sections") }
        return names
    }

    private func authors(for node: YAMLNode) throws(ConfigurationError) -> [String: String] {
        let text = try node.text("following")
        guard text == "following" else { throw node.notAllowed(text, "following") }
        let fields = kinds.names.compactMap { (kinds[$0] as? DeclaredKind)?.declaration }.filter { $0.stream == .content }
            .compactMap { kind in kind.author.map { (kind.name, $0) } }
        guard !fields.isEmpty || !broken.isEmpty else { throw node.error("no kind declares its author, so that no author can be followed") }
        return Dictionary(uniqueKeysWithValues: fields)
    }

    private func filters(
        _ node: YAMLNode, of sections: [String], among declared: [DeclaredSection]
    ) throws(ConfigurationError) -> [ItemFilter] {
        // The fields of kinds are unknown if one kind is invalid.
        guard broken.isEmpty else { return [] }
        let elsewhere = declared.filter { !sections.contains($0.name) }.flatMap(\.kinds)
        let listed = declared.filter { sections.contains($0.name) }.flatMap(\.kinds)
        let all = sections.contains(SectionConfiguration.mainName) ? kinds.names.filter { !elsewhere.contains($0) } : listed
        let fields = all.compactMap { (kinds[$0] as? DeclaredKind)?.declaration }.filter { $0.stream == .content }.flatMap(\.fields)
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
    ) throws(ConfigurationError) -> DeclaredSection {
        try check(name, of: "section", at: node)
        var section = DeclaredSection(name: name)
        let members = try node.members(of: "section '\(name)'", among: Self.keys)
        section.title = try members["title"].map { node throws(ConfigurationError) in try title(node) }
        section.ads = try ads(members)
        guard name != SectionConfiguration.mainName else {
            if let kinds = members["kinds"] {
                throw kinds.error("the section '\(name)' holds every kind that no other section holds; it cannot list kinds")
            }
            return section
        }
        guard let list = members["kinds"] else { throw node.error("kinds is missing: the kinds of the section's items") }
        section.kinds = try kinds(list, besides: others)
        return section
    }

    private func ads(_ members: [String: YAMLNode]) throws(ConfigurationError) -> DeclaredAds {
        func read<Value>(_ key: String, _ allowed: String, _ value: (String) -> Value?) throws(ConfigurationError) -> Value? {
            guard let node = members[key] else { return nil }
            let text = try node.text(allowed)
            guard let found = value(text) else { throw node.notAllowed(text, allowed) }
            return found
        }
        return DeclaredAds(
            perPage: try read("ads", "a whole number from 0 to 20") { text in Int(text).flatMap { (0...20).contains($0) ? $0 : nil } },
            rule: try read("placement", PlacementRule.allowed) { PlacementRule($0) },
            isOfFeed: try read("scope", "page, feed") { ["page": false, "feed": true][$0] })
    }

    private func title(_ node: YAMLNode) throws(ConfigurationError) -> LocalizedText {
        let text = try node.localizedText("a text to display", in: languages)
        guard text.all.allSatisfy({ $0.utf8.count <= SectionHeader.titleLimit }) else {
            throw node.error("title is longer than \(SectionHeader.titleLimit) bytes")
        }
        return text
    }

    private func kinds(_ node: YAMLNode, besides others: [DeclaredSection]) throws(ConfigurationError) -> [String] {
        let content = kinds.names.filter { kinds[$0]?.stream == .content }
        let allowed = content.joined(separator: ", ")
        var names: [String] = []
        for node in node.isList ? try node.elements("names of kinds") : [node] {
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

    private func order(
        of section: DeclaredSection, at node: YAMLNode, among sections: [DeclaredSection]
    ) throws(ConfigurationError) -> SectionSort {
        let allowed = "imported, newest, field NAME, field NAME descending"
        guard let node = try node.members(of: "section '\(section.name)'", among: Self.keys)["order"] else {
            return .imported
        }
        // The fields of kinds are unknown if one kind is invalid.
        guard broken.isEmpty else { return .imported }
        let text = try node.text(allowed)
        let words = text.split(separator: " ").map(String.init)
        switch (words.first, words.count) {
        case ("imported", 1): return .imported
        case ("newest", 1): return .newest
        case ("field", 2): return SectionSort(by: try field(words[1], of: section, at: node, among: sections))
        case ("field", 3) where words[2] == "descending":
            return SectionSort(by: try field(words[1], of: section, at: node, among: sections), isDescending: true)
        default: throw node.notAllowed(text, allowed)
        }
    }

    private func field(
        _ name: String, of section: DeclaredSection, at node: YAMLNode, among sections: [DeclaredSection]
    ) throws(ConfigurationError) -> SortField {
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

    private func check(_ name: String, of thing: String, at node: YAMLNode) throws(ConfigurationError) {
        let first = name.utf8.first.map { ($0 | 0x20) &- UInt8(ascii: "a") < 26 } ?? false
        guard first, SortField(name, .text) != nil, name.utf8.count <= Self.nameLimit else {
            throw node.error(
                "'\(ItemError.shown(name))' is not a valid \(thing) name: a letter followed by letters, digits, _ or -, at most \(Self.nameLimit)"
            )
        }
    }
}
