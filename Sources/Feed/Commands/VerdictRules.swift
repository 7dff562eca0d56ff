/// What a request itself says about whether it counts, before the ledger looks for repetitions.
public struct VerdictRules: Sendable, Hashable {
    /// What the user agents of programs that say what they are have in them, in lower case: crawlers, previewers, monitors. Libraries and
    /// tools such as curl are not among them, for people and their apps use those too.
    public static let knownBots = [
        "bot", "crawl", "spider", "slurp", "facebookexternalhit", "preview", "headless", "lighthouse", "pingdom", "uptime", "monitor",
        "scrapy", "phantomjs", "feedfetcher", "mediapartners", "validator",
    ]

    public var bots: [String]

    public init(bots: [String] = VerdictRules.knownBots) {
        self.bots = bots.map { $0.lowercased() }
    }

    /// - Parameters:
    ///   - userAgent: the `User-Agent` field; a request without one counts as a program's.
    ///   - purpose: the `Sec-Purpose` or `Purpose` field: browsers say `prefetch` or `preview` when nobody has asked yet.
    ///   - isHead: whether the method is HEAD, which looks without going.
    public func verdict(userAgent: String?, purpose: String?, isHead: Bool) -> Verdict {
        guard let agent = userAgent?.lowercased(), !agent.isEmpty, !bots.contains(where: agent.contains) else { return .bot }
        let purpose = purpose?.lowercased() ?? ""
        return isHead || purpose.contains("prefetch") || purpose.contains("preview") ? .prefetch : .counted
    }
}
