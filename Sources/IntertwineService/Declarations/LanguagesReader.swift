internal import IntertwineFeed
internal import IntertwinePrimitives

/// Reads `languages: [en, de]`, and texts by language: `title: {en: Events, de: Termine}`.
extension YAMLNode {
    func languages() throws -> FeedLanguages {
        let tags = try elements.reduce(into: [String]()) { tags, node in
            let expected = "language tags such as en, de or pt-BR, the default first"
            let tag = try node.value(expected) { LanguagePreferences.isTag($0) ? $0 : nil }
            guard FeedLanguages(tags).declared(tag) == nil else { throw node.error("the language '\(tag)' occurs twice") }
            tags.append(tag)
        }
        guard (1...FeedLanguages.limit).contains(tags.count) else { throw error("there are 1 to \(FeedLanguages.limit) languages") }
        return FeedLanguages(tags)
    }

    func label(of slot: CommandKey, in languages: FeedLanguages) throws -> LocalizedText {
        guard slot.isLabelled else { throw error("'\(ItemError.shown(slot.rawValue))' is not an action of people, and has no label") }
        return try label(in: languages)
    }

    func label(_ name: String = "a label", limit: Int = 200, in languages: FeedLanguages) throws -> LocalizedText {
        let label = try localizedText("a text to display", in: languages)
        guard label.all.allSatisfy({ $0.utf8.count <= limit }) else { throw error("\(name) has at most \(limit) bytes") }
        return label
    }

    /// nil for a list of choices, which have no labels.
    func choices(in languages: FeedLanguages) throws -> [(choice: String, label: LocalizedText)]? {
        guard isMapping else { return nil }
        return try each("choices, each with a text to display") { ($0, try $1.label(in: languages)) }
    }

    func labels(in languages: FeedLanguages) throws -> [CommandKey: LocalizedText] {
        let labels = try each("slots, each with a text to display") { name, node in
            (CommandKey(name), try node.label(of: CommandKey(name), in: languages))
        }
        return Dictionary(labels) { $1 }
    }

    func localizedText(_ expected: String, in languages: FeedLanguages) throws -> LocalizedText {
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
