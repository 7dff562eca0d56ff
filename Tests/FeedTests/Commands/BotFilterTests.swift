import IntertwineFeed
import Testing

@Suite("Verdicts of requests")
struct BotFilterTests {
    static let firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"

    @Test(
        "Bots, prefetching and HEAD requests do not count",
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
            (firefox, "prerender", false, .prefetch),
            ("ia_archiver (+http://www.alexa.com/site/help/webmasters)", nil, false, .bot),
            ("APIs-Google (+https://developers.google.com/webmasters/APIs-Google.html)", nil, false, .bot),
            ("Mozilla/5.0 (compatible; Embedly/0.2; +http://support.embed.ly/)", nil, false, .bot),
            ("WhatsApp/2.23.20.0", nil, false, .bot),
            ("Mozilla/5.0 (Linux; Android 11; CUBOT X50) Chrome/120.0 Mobile", nil, false, .counted),
            ("Mozilla/5.0 (Linux; Android 11; CUBOT X50; compatible; Googlebot/2.1)", nil, false, .bot),
            (firefox, nil, true, .prefetch),
        ] as [(String?, String?, Bool, Verdict)])
    func table(userAgent: String?, purpose: String?, isHead: Bool, expected: Verdict) {
        #expect(BotFilter().verdict(userAgent: userAgent, purposes: purpose.map { ["x", $0] } ?? [], isHead: isHead) == expected)
    }
}
