import Feed
import Testing

@Suite("Verdicts of requests")
struct VerdictRulesTests {
    static let firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"

    @Test(
        "programs, prefetching and HEAD do not count",
        arguments: [
            (firefox, nil, false, Verdict.counted),
            ("curl/7.88.1", nil, false, .counted),
            (nil, nil, false, .bot),
            ("", nil, false, .bot),
            ("Mozilla/5.0 (compatible; Googlebot/2.1)", nil, false, .bot),
            ("CRAWL", nil, false, .bot),
            ("spide", nil, false, .counted),
            ("\u{17F}pider sp\u{ED}der", nil, false, .counted),
            (firefox, "prefetch", false, .prefetch),
            (firefox, "prefetch;prerender", false, .prefetch),
            (firefox, "Preview", false, .prefetch),
            (firefox, "other", false, .counted),
            (firefox, nil, true, .prefetch),
        ] as [(String?, String?, Bool, Verdict)])
    func table(userAgent: String?, purpose: String?, isHead: Bool, expected: Verdict) {
        #expect(VerdictRules().verdict(userAgent: userAgent, purpose: purpose, isHead: isHead) == expected)
    }
}
