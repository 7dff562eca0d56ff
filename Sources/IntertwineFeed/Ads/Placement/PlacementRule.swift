/// A placement as written in the configuration: `midpoint`, `every 5`, `every 5 offset 2`, `at 2, 7` or `pinned`.
///
/// ```swift
/// let placement = PlacementRule("every 5 offset 2")?.placement(perPage: 1, isOfFeed: false)
/// ```
public enum PlacementRule: Sendable, Hashable {
    /// The middle of each page.
    case midpoint
    /// One ad slot after every given number of content items, the first one after `offset` items.
    case every(Int, offset: Int)
    /// Ad slots in front of the content items with these numbers, from 0.
    case at([Int])
    /// The positions at which an import listed the advertisements.
    case pinned

    /// A description of the allowed texts, for error messages.
    public static let allowed =
        "midpoint, pinned, 'every N' or 'every N offset M' (N from 1 to 1000, M from 0 to 100000), "
        + "'at N, …' (1 to 20 ascending numbers from 0 to 100000)"
    private static let numbers = 0...100_000

    /// Parses a rule, in which colons, commas and brackets are allowed as in YAML. Returns nil if the text is malformed.
    ///
    /// ```swift
    /// let rule = PlacementRule("at 2, 7")  // .at([2, 7])
    /// let unsorted = PlacementRule("at 7, 2")  // nil
    /// ```
    public init?(_ text: String) {
        let words = text.split { " :,[]{}".contains($0) }.map(String.init)
        guard let name = words.first else { return nil }
        switch (name, words.count) {
        case ("midpoint", 1): self = .midpoint
        case ("pinned", 1): self = .pinned
        case ("every", 2):
            guard let every = Self.number(words[1], 1...1_000) else { return nil }
            self = .every(every, offset: every)
        case ("every", 4) where words[2] == "offset":
            guard let every = Self.number(words[1], 1...1_000), let offset = Self.number(words[3], Self.numbers) else { return nil }
            self = .every(every, offset: offset)
        case ("at", 2...21):
            let numbers = words.dropFirst().compactMap { Self.number($0, Self.numbers) }
            guard numbers.count == words.count - 1, zip(numbers, numbers.dropFirst()).allSatisfy(<) else { return nil }
            self = .at(numbers)
        default: return nil
        }
    }

    /// The rule as text, which ``init(_:)`` parses.
    ///
    /// ```swift
    /// let rule = PlacementRule.every(5, offset: 5)
    /// let text = rule.text  // "every 5"
    /// ```
    public var text: String {
        switch self {
        case .midpoint: "midpoint"
        case .pinned: "pinned"
        case .every(let every, let offset): offset == every ? "every \(every)" : "every \(every) offset \(offset)"
        case .at(let numbers): "at \(numbers.map(String.init).joined(separator: ", "))"
        }
    }

    private static func number(_ text: String, _ range: ClosedRange<Int>) -> Int? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text), range.contains(number) else { return nil }
        return number
    }

    /// Returns the placement of the rule.
    ///
    /// ```swift
    /// let rule = PlacementRule.midpoint
    /// let placement = rule.placement(perPage: 1, isOfFeed: false)
    /// let indices = placement.indices(for: 1, in: ContentRange(count: 20))  // [10]
    /// ```
    ///
    /// - Parameters:
    ///   - perPage: The number of ads at the midpoint of a page; 0 shows no ads.
    ///   - isOfFeed: True if the numbers of `at` refer to the whole feed.
    public func placement(perPage: Int, isOfFeed: Bool) -> any AdPlacement {
        guard perPage > 0 else { return MidpointPlacement(advertisements: 0) }
        return switch self {
        case .midpoint: MidpointPlacement(advertisements: perPage)
        case .every(let every, let offset): EveryPlacement(every: every, offset: offset)
        case .at(let numbers): FixedPlacement(at: numbers, scope: isOfFeed ? .feed : .page)
        case .pinned: PinnedPlacement()
        }
    }
}
