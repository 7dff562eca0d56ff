/// What a request itself says about whether it counts, before the ledger looks for repetitions.
package struct BotFilter: Sendable, Hashable {
    /// What the user agents of programs that say what they are have in them, in lower case: crawlers, previewers, monitors. Libraries and
    /// tools such as curl are not among them, for people and their apps use those too.
    package static let knownBots = [
        "bot", "crawl", "spider", "slurp", "facebookexternalhit", "preview", "headless", "lighthouse", "pingdom", "uptime", "monitor",
        "scrapy", "phantomjs", "feedfetcher", "mediapartners", "validator", "ia_archiver", "apis-google", "embedly", "whatsapp",
    ]

    /// A maker of phones, whose name is in the user agent of their browsers.
    private static let people = ["cubot"]

    private static let early = SubstringMatcher(["prefetch", "prerender", "preview"])

    private let bots: SubstringMatcher

    /// - Parameter bots: what the user agents of programs have in them, in letters of either case.
    package init(bots: [String] = BotFilter.knownBots) {
        self.bots = SubstringMatcher(bots, passing: Self.people)
    }

    /// Whether a program says that it is one.
    package func isRobot(_ userAgent: String) -> Bool { bots.matches(userAgent) }

    /// - Parameters:
    ///   - userAgent: the `User-Agent` field; a request without one counts as a program's.
    ///   - purposes: the `Sec-Purpose` field and those before it: browsers say `prefetch`, `prerender` or `preview` when nobody has
    ///     asked yet. One that says so is enough.
    ///   - isHead: whether the method is HEAD, which looks without going.
    ///   - isForeignSubresource: whether a page of another site had its browser load a link as part of that page, such as an image.
    package func verdict(
        userAgent: String?, purposes: [String] = [], isHead: Bool, isForeignSubresource: Bool = false
    ) -> Verdict {
        guard let userAgent, !userAgent.isEmpty, !bots.matches(userAgent) else { return .bot }
        if isHead || purposes.contains(where: Self.early.matches) { return .prefetch }
        return isForeignSubresource ? .subresource : .counted
    }
}

/// Looks for any of several words in a text, ASCII letters of either case being the same. One pass over the bytes, nothing allocated.
private struct SubstringMatcher: Sendable, Hashable {
    private let words: [[UInt8]]
    private let passed: [[UInt8]]
    /// Whether a word begins with a byte, one that is passed included.
    private let begins: [Bool]

    /// - Parameter passed: words that are no match, whatever words are within them.
    init(_ words: [String], passing passed: [String] = []) {
        self.words = Self.folded(words)
        self.passed = Self.folded(passed)
        var begins = [Bool](repeating: false, count: 256)
        for first in (self.words + self.passed).compactMap(\.first) { begins[Int(first)] = true }
        self.begins = begins
    }

    func matches(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { text in
            var start = 0
            while start < text.count {
                guard begins[Int(Self.folded(text[start]))] else {
                    start += 1
                    continue
                }
                if words.contains(where: { Self.isWord($0, in: text, at: start) }) { return true }
                start += passed.first { Self.isWord($0, in: text, at: start) }?.count ?? 1
            }
            return false
        }
    }

    private static func folded(_ words: [String]) -> [[UInt8]] {
        words.map { $0.utf8.map { folded($0) } }.filter { !$0.isEmpty }
    }

    private static func isWord(_ word: [UInt8], in text: UnsafeBufferPointer<UInt8>, at start: Int) -> Bool {
        guard text.count - start >= word.count else { return false }
        return word.indices.allSatisfy { folded(text[start + $0]) == word[$0] }
    }

    private static func folded(_ byte: UInt8) -> UInt8 {
        (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
    }
}
