package import IntertwinePrimitives

package struct FeedLanguages: Sendable, Hashable {
    package static let limit = 32
    package static let none = FeedLanguages()

    package let all: [FeedLanguage]
    /// The language tags (RFC 5646) in the order of declaration.
    package let tags: [String]

    package init(_ tags: [String] = []) {
        self.tags = Array(tags.prefix(Self.limit))
        all = self.tags.enumerated().map { FeedLanguage($1, number: UInt8($0 + 1), among: tags) }
    }

    package var isEmpty: Bool { all.isEmpty }

    package func declared(_ tag: String) -> String? {
        let wanted = tag.lowercased()
        return tags.first { $0.lowercased() == wanted }
    }

    /// Returns the preferred language by lookup (RFC 4647, section 3.4), or nil if no declared language matches.
    package func language(for preferences: LanguagePreferences) -> FeedLanguage? {
        preferences.lookup(among: tags).map { all[$0] }
    }

    package var usual: FeedLanguage? { all.first }
}

extension FeedLanguages {
    private static let advertisements = [
        "cs": "Reklama", "da": "Annonce", "de": "Anzeige", "es": "Publicidad", "fi": "Mainos", "fr": "Publicité", "it": "Pubblicità",
        "ja": "広告", "ko": "광고", "nl": "Advertentie", "no": "Annonse", "pl": "Reklama", "pt": "Publicidade", "sv": "Annons", "tr": "Reklam",
        "zh": "广告",
    ]

    package var advertisement: LocalizedText {
        let texts = tags.map { tag in
            (tag: tag, value: Self.advertisements[tag.lowercased().split(separator: "-").first.map(String.init) ?? ""] ?? "Advertisement")
        }
        return LocalizedText(texts) ?? "Advertisement"
    }
}

/// A declared language, with its fallbacks for missing texts.
public struct FeedLanguage: Sendable, Hashable {
    /// The language tag (RFC 5646), as declared.
    public let tag: String
    /// The number of the language, from 1 in the order of declaration. It distinguishes cells and pages of different languages.
    public let number: UInt8
    @usableFromInline let order: [String]

    fileprivate init(_ tag: String, number: UInt8, among declared: [String]) {
        self.tag = tag
        self.number = number
        var order: [String] = []
        var subtags = tag.lowercased().split(separator: "-")
        while !subtags.isEmpty {
            let shorter = subtags.joined(separator: "-")
            if let found = declared.first(where: { $0.lowercased() == shorter }) { order.append(found) }
            subtags.removeLast()
            if subtags.last?.utf8.count == 1 { subtags.removeLast() }
        }
        if let first = declared.first, !order.contains(first) { order.append(first) }
        self.order = order
    }
}

/// A value for all languages, or one value for each of some languages.
public struct ByLanguage<Value: Sendable>: Sendable {
    @usableFromInline let first: Value
    @usableFromInline let values: [String: Value]

    /// Creates a value for all languages.
    ///
    /// ```swift
    /// let title = LocalizedText("Swing")
    /// let isSame = title.isSame  // true
    /// ```
    public init(_ value: Value) {
        (first, values) = (value, [:])
    }

    /// Creates a value for each of some languages; nil if `values` is empty.
    ///
    /// ```swift
    /// let limits = ByLanguage<Int>([(tag: "en", value: 80), (tag: "de", value: 100)])
    /// let none = ByLanguage<Int>([])  // nil
    /// ```
    ///
    /// - Parameter values: The values by declared tag, in the order of declaration.
    public init?(_ values: [(tag: String, value: Value)]) {
        guard let first = values.first else { return nil }
        self.first = first.value
        self.values = Dictionary(values.map { ($0.tag, $0.value) }) { first, _ in first }
    }

    private init(first: Value, values: [String: Value]) {
        (self.first, self.values) = (first, values)
    }

    /// Returns the value of a language or, if it has none, of the nearest fallback.
    @inlinable public subscript(language: FeedLanguage?) -> Value {
        guard !values.isEmpty, let language else { return first }
        for tag in language.order {
            if let value = values[tag] { return value }
        }
        return first
    }

    /// All values.
    public var all: [Value] { values.isEmpty ? [first] : Array(values.values) }

    /// A Boolean value indicating whether one value is for all languages.
    public var isSame: Bool { values.isEmpty }

    /// Returns the values of all languages, each transformed by a function.
    ///
    /// ```swift
    /// let label: LocalizedText = ["en": "Like", "de": "Gefällt mir"]
    /// let counts = label.map { text in text.count }  // 4 and 11
    /// ```
    ///
    /// - Throws: The error of `transform`.
    public func map<Other, Failure: Error>(_ transform: (Value) throws(Failure) -> Other) throws(Failure) -> ByLanguage<Other> {
        var others: [String: Other] = [:]
        for (tag, value) in values { others[tag] = try transform(value) }
        return ByLanguage<Other>(first: try transform(first), values: others)
    }

    package func combined<Other, Result>(with other: ByLanguage<Other>, _ transform: (Value, Other) -> Result) -> ByLanguage<Result> {
        var results: [String: Result] = [:]
        for tag in Set(values.keys).union(other.values.keys) {
            results[tag] = transform(values[tag] ?? first, other.values[tag] ?? other.first)
        }
        return ByLanguage<Result>(first: transform(first, other.first), values: results)
    }
}

extension ByLanguage: Equatable where Value: Equatable {}
extension ByLanguage: Hashable where Value: Hashable {}

extension ByLanguage: ExpressibleByUnicodeScalarLiteral, ExpressibleByExtendedGraphemeClusterLiteral, ExpressibleByStringLiteral
where Value == String {
    /// Creates a text for all languages.
    public init(stringLiteral text: String) {
        self.init(text)
    }
}

extension ByLanguage: ExpressibleByDictionaryLiteral where Value == String {
    /// Creates a text in several languages: `["en": "Like", "de": "Gefällt mir"]`.
    public init(dictionaryLiteral texts: (String, String)...) {
        self = ByLanguage(texts.map { (tag: $0.0, value: $0.1) }) ?? ByLanguage("")
    }
}

/// A text for display, in one or several languages.
public typealias LocalizedText = ByLanguage<String>
