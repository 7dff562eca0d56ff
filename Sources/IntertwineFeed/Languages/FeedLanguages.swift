public import IntertwinePrimitives

/// The languages that texts are declared in. The first one is given where none of them is wanted.
public struct FeedLanguages: Sendable, Hashable {
    public static let limit = 32
    public static let none = FeedLanguages()

    public let all: [FeedLanguage]
    public let tags: [String]

    /// - Parameter tags: language tags (RFC 5646), at most ``limit``, none of them twice.
    public init(_ tags: [String] = []) {
        self.tags = Array(tags.prefix(Self.limit))
        all = self.tags.enumerated().map { FeedLanguage($1, number: UInt8($0 + 1), among: tags) }
    }

    public var isEmpty: Bool { all.isEmpty }

    /// A tag as it was declared, however its letters are written; nil for one that was not.
    public func declared(_ tag: String) -> String? {
        let wanted = tag.lowercased()
        return tags.first { $0.lowercased() == wanted }
    }

    /// The language that somebody wants most, looked up (RFC 4647, 3.4); nil where there is none of them.
    public func language(for preferences: LanguagePreferences) -> FeedLanguage? {
        preferences.lookup(among: tags).map { all[$0] }
    }

    /// The one that is given where nothing else is known; nil where none is declared.
    public var usual: FeedLanguage? { all.first }
}

/// One of the languages that are declared, and where a text is looked for that it does not have.
public struct FeedLanguage: Sendable, Hashable {
    public let tag: String
    /// From 1, in the order of declaration: what tells cells and pages of one language from those of others.
    public let number: UInt8
    /// Its own tag, those that are left where it is shortened from its end, and the first of all: as far as they are declared.
    let order: [String]

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

/// One value for all languages, or one for each of some.
public struct ByLanguage<Value: Sendable>: Sendable {
    /// That of the first language that has one; the only one where all share it.
    private let first: Value
    /// By tags as they were declared; empty where one is for all.
    private let values: [String: Value]

    /// The same for all.
    public init(_ value: Value) {
        (first, values) = (value, [:])
    }

    /// - Parameter values: by tags as they were declared, in the order of declaration. Nil where there are none.
    public init?(_ values: [(tag: String, value: Value)]) {
        guard let first = values.first else { return nil }
        self.first = first.value
        self.values = Dictionary(values.map { ($0.tag, $0.value) }) { first, _ in first }
    }

    private init(first: Value, values: [String: Value]) {
        (self.first, self.values) = (first, values)
    }

    /// Its value in a language or, where it has none, in the nearest one.
    public subscript(language: FeedLanguage?) -> Value {
        guard !values.isEmpty, let language else { return first }
        for tag in language.order {
            if let value = values[tag] { return value }
        }
        return first
    }

    /// Every value that it can have.
    public var all: [Value] { values.isEmpty ? [first] : Array(values.values) }

    /// Whether it has one value for all languages.
    public var isSame: Bool { values.isEmpty }

    public func map<Other, Failure: Error>(_ transform: (Value) throws(Failure) -> Other) throws(Failure) -> ByLanguage<Other> {
        var others: [String: Other] = [:]
        for (tag, value) in values { others[tag] = try transform(value) }
        return ByLanguage<Other>(first: try transform(first), values: others)
    }
}

extension ByLanguage: Equatable where Value: Equatable {}
extension ByLanguage: Hashable where Value: Hashable {}

/// A text for people.
public typealias LocalizedText = ByLanguage<String>
