internal import IntertwineFeed
internal import IntertwinePrimitives

/// Reads `languages: [en, de]`, and texts by language: `title: {en: Events, de: Termine}`.
extension YAMLNode {
    func languages() throws(ConfigurationError) -> FeedLanguages {
        let allowed = "language tags such as en, de or pt-BR, the default first"
        var tags: [String] = []
        for node in isList ? try elements(allowed) : [self] {
            let tag = try node.text(allowed)
            guard LanguagePreferences.isTag(tag) else { throw node.notAllowed(tag, allowed) }
            guard FeedLanguages(tags).declared(tag) == nil else { throw node.error("the language '\(tag)' occurs twice") }
            tags.append(tag)
        }
        guard (1...FeedLanguages.limit).contains(tags.count) else { throw error("there are 1 to \(FeedLanguages.limit) languages") }
        return FeedLanguages(tags)
    }

    func label(of slot: CommandKey, in languages: FeedLanguages) throws(ConfigurationError) -> LocalizedText {
        guard slot.isLabelled else { throw error("'\(ItemError.shown(slot.rawValue))' is not an action of people, and has no label") }
        return try label(in: languages)
    }

    func label(in languages: FeedLanguages) throws(ConfigurationError) -> LocalizedText {
        let label = try localizedText("a text to display", in: languages)
        guard label.all.allSatisfy({ $0.utf8.count <= Self.labelLimit }) else {
            throw error("a label has at most \(Self.labelLimit) bytes")
        }
        return label
    }

    private static let labelLimit = 200

    func labels(in languages: FeedLanguages) throws(ConfigurationError) -> [CommandKey: LocalizedText] {
        var labels: [CommandKey: LocalizedText] = [:]
        for (name, node) in try members("slots, each with a text to display") {
            labels[CommandKey(name)] = try node.label(of: CommandKey(name), in: languages)
        }
        return labels
    }

    func localizedText(_ expected: String, in languages: FeedLanguages) throws(ConfigurationError) -> LocalizedText {
        guard isMapping else { return LocalizedText(try text(expected)) }
        guard !languages.isEmpty else {
            throw error("a text by language requires declared languages: `languages: [en, de]` at the top of the file")
        }
        var texts: [String: String] = [:]
        for (name, node) in try members("languages, each with its text: \(expected)") {
            guard let tag = languages.declared(name) else { throw node.unknown("language", name, among: languages.tags) }
            guard texts[tag] == nil else { throw node.error("the language '\(tag)' occurs twice") }
            texts[tag] = try node.text(expected)
        }
        guard let text = LocalizedText(languages.tags.compactMap { tag in texts[tag].map { (tag, $0) } }) else {
            throw error("a value is missing: \(expected)")
        }
        return text
    }
}
