/// What a request itself says about whether it counts, before the ledger looks for repetitions.
public struct VerdictRules: Sendable, Hashable {
    /// What the user agents of programs that say what they are have in them, in lower case: crawlers, previewers, monitors. Libraries and
    /// tools such as curl are not among them, for people and their apps use those too.
    public static let knownBots = [
        "bot", "crawl", "spider", "slurp", "facebookexternalhit", "preview", "headless", "lighthouse", "pingdom", "uptime", "monitor",
        "scrapy", "phantomjs", "feedfetcher", "mediapartners", "validator", "ia_archiver", "apis-google", "embedly", "whatsapp",
    ]

    /// A maker of phones, whose name is in the user agent of their browsers.
    private static let people = ["cubot"]

    private static let early = WordSearch(["prefetch", "prerender", "preview"])

    private let bots: WordSearch

    /// - Parameter bots: what the user agents of programs have in them, in letters of either case.
    public init(bots: [String] = VerdictRules.knownBots) {
        self.bots = WordSearch(bots, passing: Self.people)
    }

    /// - Parameters:
    ///   - userAgent: the `User-Agent` field; a request without one counts as a program's.
    ///   - purposes: the `Sec-Purpose` field and those before it: browsers say `prefetch`, `prerender` or `preview` when nobody has
    ///     asked yet. One that says so is enough.
    ///   - isHead: whether the method is HEAD, which looks without going.
    public func verdict(userAgent: String?, purposes: [String] = [], isHead: Bool) -> Verdict {
        guard let userAgent, !userAgent.isEmpty, !bots.matches(userAgent) else { return .bot }
        return isHead || purposes.contains(where: Self.early.matches) ? .prefetch : .counted
    }
}
