import TestSupport
import Testing

@testable import IntertwineImages

@Suite("URLs as curl reads them")
struct FetchURLTests {
    @Test(
        "Every spelling of a loopback address is that address",
        arguments: [
            "http://127.0.0.1/", "http://127.1/", "http://2130706433/", "http://0x7f.1/", "http://0x7f000001/", "http://0177.0.0.1/",
            "http://017700000001/", "http://127.0.0.1./", "http://%31%32%37.0.0.1/", "http://１２７.0.0.1/",
        ])
    func spellings(_ text: String) throws {
        #expect(try FetchURL(text).address == IPAddress("127.0.0.1"))
    }

    @Test("IPv6 literals are addresses", arguments: [("http://[::1]/", "::1"), ("http://[::ffff:127.0.0.1]/", "::ffff:7f00:1")])
    func literals(_ text: String, _ address: String) throws {
        #expect(try FetchURL(text).address == IPAddress(address))
    }

    @Test(
        "One canonical form",
        arguments: [
            ("HTTP://EXAMPLE.com:80/a/../b?q#f", "http://example.com/b?q"), ("https://example.com:443", "https://example.com/"),
            ("http://example.com./", "http://example.com/"), ("http://bücher.example/", "http://xn--bcher-kva.example/"),
            ("http://example.com:8080/x", "http://example.com:8080/x"), (" \thttp://exa\nmple.com/a b\r\n", "http://example.com/a%20b"),
            ("http:\\\\example.com\\a\\b", "http://example.com/a/b"), ("//cdn.example/a.jpg", "https://cdn.example/a.jpg"),
            ("http://example.com/100%.jpg", "http://example.com/100%.jpg"), ("http://EXAMPLE.com:0080", "http://example.com/"),
            ("http://example.com/фото.jpg?q=ü#é", "http://example.com/%D1%84%D0%BE%D1%82%D0%BE.jpg?q=%C3%BC"),
            ("http://example.com/ü", "http://example.com/%C3%BC"),
        ])
    func canonical(_ text: String, _ expected: String) throws {
        #expect(try FetchURL(text).text == expected)
        #expect(try FetchURL(expected).text == expected)
    }

    @Test(
        "Other URLs than http and https are refused with a reason",
        arguments: [
            ("", FetchError.malformedURL), ("example.com", .malformedURL), ("/path", .malformedURL), ("http://", .malformedURL),
            ("http://exa mple.com/", .malformedURL), ("http://[fe80::1%25eth0]/", .malformedURL), ("http://example.com:0/", .malformedURL),
            ("http://example.com:99999/", .malformedURL), ("http://a\u{0}b/", .malformedURL), ("\u{0}", .malformedURL),
            ("file:///etc/passwd", .schemeDenied),
            ("ftp://example.com/", .schemeDenied), ("gopher://127.0.0.1:6379/_x", .schemeDenied), ("dict://127.0.0.1/", .schemeDenied),
            ("ldap://127.0.0.1/", .schemeDenied), ("http://user@example.com/", .userinfoDenied),
            ("http://user:pass@example.com/", .userinfoDenied), ("http://example.com@127.0.0.1/", .userinfoDenied),
            ("http://" + String(repeating: "a", count: 2_050) + "/", .malformedURL),
        ])
    func refused(_ text: String, _ failure: FetchError) {
        #expect(throws: failure) { try FetchURL(text) }
    }

    @Test("Any text is a URL or a failure without a trap, and valid URLs are unchanged")
    func arbitrary() throws {
        var generator = SeededRandom(seed: 5)
        let pieces = [
            "http", "https", ":", "/", "//", "@", "[", "]", "%", "%00", "#", "?", "\\", "..", "127.0.0.1", "a.b", "::1", "ü", " ", "0x7f",
            ".",
        ]
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 1...8, using: &generator)).compactMap { _ in pieces.randomElement(using: &generator) }.joined()
            if let url = try? FetchURL("http://" + text) {
                #expect(try FetchURL(url.text) == url)
                #expect(!url.host.isEmpty && !url.host.contains("@"))
            }
        }
    }

    @Test("A canonical URL equals curl's form and is not an address")
    func plain() throws {
        var generator = SeededRandom(seed: 6)
        let pieces = [
            "a", "b9", "example", "xn", "0x7f", "127", "1", ".", "..", "-", "--", "/", "//", ":80", "@", "%41", "?", "#", "A", "_", "ü",
            "\\", " ",
        ]
        var plain = 0
        for number in 0..<40_000 {
            let text = (0..<Int.random(in: 1...9, using: &generator)).compactMap { _ in pieces.randomElement(using: &generator) }.joined()
            let url = (number % 2 == 0 ? "http://" : "https://") + text
            guard FetchURL.isPlain(url) else { continue }
            plain += 1
            let parsed = try FetchURL(url)
            #expect(parsed.text == url && parsed.address == nil)
        }
        #expect(plain > 200)
        #expect(FetchURL.isPlain("https://pictures.example.com/avatars/1_a-B.v2.png"))
        for text in [
            "http://example.com", "ftp://example.com/", "http://127.0.0.1/", "http://example.com./", "http://a/../b", "http://a/.",
            "http:///", "",
        ] {
            #expect(!FetchURL.isPlain(text))
        }
    }
}
