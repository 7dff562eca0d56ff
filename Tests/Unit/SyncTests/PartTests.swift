import HTTPTypes
import Testing

@testable import IntertwineImages
@testable import IntertwineService

@Suite("Links, pauses and retries")
struct PartTests {
    @Test(
        "The next page is read from a Link field (RFC 8288)",
        arguments: [
            (#"<https://a/2>; rel="next""#, "https://a/2"), ("</2>;rel=next", "/2"), (#"<1>; rel="prev", <3>; rel="next""#, "3"),
            (#"<x>; title="a, <b>; rel=\"next\""; rel=last, <y>; Rel="last NEXT""#, "y"), (#"<a,b>; rel=next"#, "a,b"),
            (#"<1>; rel=prev; rel=next"#, nil), (#"<1>; rel=next; anchor="/other""#, nil), ("<1>", nil), ("", nil), ("1; rel=next", nil),
            (#"<1; rel=next"#, nil), (#"<2> ; rel = "next" ; x"#, "2"), ("<1>; rel=nextish", nil), (", ,<4>; rel=next", "4"),
            (#"<5>; rel="next"; results="true""#, "5"), (#"<1>; rel="previous", <5>; rel="next"; results="false""#, nil),
            ("https://a; rel=preconnect, </2>; rel=next", "/2"), ("</s>; rel=preload; as=style nopush, </2>; rel=next", "/2"),
            ("</s>; title=Hello, world, </2>; rel=next", "/2"), ("</2>; no value; =; rel=next", "/2"), (";, x=<y>, </2>;rel=next", "/2"),
            (#"<>; rel="next""#, nil), (#"< >; rel="next""#, nil), (#"<1>; rel=prev, <>; rel="next""#, nil),
        ])
    func links(field: String, expected: String?) {
        #expect(LinkField.next(in: field) == expected)
    }

    @Test(
        "A modification date is a validator only if it was a second old",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT", false),
            ("Sun, 06 Nov 1994 08:49:36 GMT", "Sun, 06 Nov 1994 08:49:37 GMT", true), ("yesterday", "Sun, 06 Nov 1994 08:49:37 GMT", false),
            ("Sun, 06 Nov 1994 08:49:37 GMT", nil, false),
        ] as [(String, String?, Bool)])
    func modification(modified: String, date: String?, isStrong: Bool) {
        var headers: HTTPFields = [.lastModified: modified]
        headers[.date] = date
        #expect(headers.strongModification(now: 784_111_777) == (isStrong ? modified : nil))
    }

    @Test("A cursor becomes one query parameter with any content")
    func cursor() {
        #expect(NextPage.setting("c", to: "a b&c=1/é", in: "https://a/x") == "https://a/x?c=a%20b%26c%3D1%2F%C3%A9")
        #expect(NextPage.setting("page", to: "2", in: "https://a/x?page=1&limit=5&page=0") == "https://a/x?limit=5&page=2")
        for written in ["page[number]", "page%5Bnumber%5D", "page%5bnumber]", "p%61ge[number]"] {
            for parameter in ["page[number]", "page%5Bnumber%5D"] {
                #expect(NextPage.setting(parameter, to: "2", in: "https://a/x?\(written)=1&b=c") == "https://a/x?b=c&page%5Bnumber%5D=2")
            }
        }
    }

    @Test("Backoff doubles up to a bound with jitter, and respects Retry-After")
    func backoff() {
        let backoff = Backoff(interval: .seconds(60))
        for (failures, seconds) in [(1, 10), (2, 20), (3, 40), (4, 80)] {
            #expect(backoff.delay(after: failures, chance: 1) == .seconds(seconds))
        }
        #expect(backoff.delay(after: 1, chance: 0) == .seconds(5))
        #expect(backoff.delay(after: 1_000_000, chance: 1) == .seconds(3_600))
        #expect(backoff.delay(after: 1, requested: .seconds(90), chance: 1) == .seconds(90))
        #expect(backoff.delay(after: 1, requested: .seconds(900_000), chance: 1) == .seconds(86_400))
        #expect(Backoff(interval: .seconds(86_400)).delay(after: 50, chance: 1) == .seconds(86_400))
        #expect(Backoff(interval: .seconds(1)).delay(after: 1, chance: 1) == .seconds(1))
    }
}
