/// A filter that decides from the request alone whether an event counts. The ledger checks for duplicates afterwards.
package struct BotFilter: Sendable, Hashable {
    /// The lower-case substrings of user agents that identify programs: crawlers, link previewers, monitors.
    ///
    /// Libraries and tools such as curl are absent, because people and their apps use those too.
    package static let knownBots = [
        "bot", "crawl", "spider", "slurp", "facebookexternalhit", "preview", "headless", "lighthouse", "pingdom", "uptime", "monitor",
        "scrapy", "phantomjs", "feedfetcher", "mediapartners", "validator", "ia_archiver", "apis-google", "embedly", "whatsapp",
    ]

    /// The name of a phone manufacturer, which the user agents of its browsers contain.
    private static let people = ["cubot"]

    private static let early = SubstringMatcher(["prefetch", "prerender", "preview"])

    private let bots: SubstringMatcher

    /// - Parameter bots: the substrings of the user agents of programs, compared case-insensitively (ASCII).
    package init(bots: [String] = BotFilter.knownBots) {
        self.bots = SubstringMatcher(bots, passing: Self.people)
    }

    /// Returns true if the user agent identifies a program.
    package func isRobot(_ userAgent: String) -> Bool { bots.matches(userAgent) }

    /// Returns the verdict on a request from its header fields.
    ///
    /// - Parameters:
    ///   - userAgent: the `User-Agent` field. A request without the field counts as a bot.
    ///   - purposes: the `Sec-Purpose` field and its predecessors. Browsers send `prefetch`, `prerender` or `preview` for a request without a
    ///     user action. One matching value is enough.
    ///   - isHead: true if the method is HEAD, which does not follow the link.
    ///   - isForeignSubresource: true if a page of another site loaded the link as part of that page, such as an image.
    package func verdict(
        userAgent: String?, purposes: [String] = [], isHead: Bool, isForeignSubresource: Bool = false
    ) -> Verdict {
        guard let userAgent, !userAgent.isEmpty, !bots.matches(userAgent) else { return .bot }
        if isHead || purposes.contains(where: Self.early.matches) { return .prefetch }
        return isForeignSubresource ? .subresource : .counted
    }
}

/// A matcher for several words in a text. It ignores the case of ASCII letters, needs one pass over the bytes and does not allocate.
private struct SubstringMatcher: Sendable, Hashable {
    private let words: [[UInt8]]
    private let passed: [[UInt8]]
    /// A table that is true for each byte with which a word begins, including excluded words.
    private let begins: [Bool]

    /// - Parameter passed: excluded words, which are no match even if they contain one of `words`.
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
