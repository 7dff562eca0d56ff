import Testing

@testable import IntertwinePrimitives

@Suite("URLs as browsers read them")
struct WebURLTests {
    @Test(
        "A URL without a base",
        arguments: [
            ("https://example.com/a", "https://example.com/a"), ("HTTPS://Example.com", "https://example.com/"),
            (" \n\thttps://example.com/a\u{0}\u{1F} ", "https://example.com/a"),
            ("htt\tps://exam\nple.com/a\r\nb", "https://example.com/ab"),
            ("https://example.com/a b  c", "https://example.com/a%20b%20%20c"),
            ("https://example.com/фото.jpg", "https://example.com/%D1%84%D0%BE%D1%82%D0%BE.jpg"),
            ("https://example.com/?q=ü&r=<\">", "https://example.com/?q=%C3%BC&r=%3C%22%3E"),
            ("https://example.com#a b", "https://example.com/#a%20b"),
            ("https://bücher.example/", "https://xn--bcher-kva.example/"), ("https://BÜCHER.example:443", "https://xn--bcher-kva.example/"),
            ("https://日本語。jp/", "https://xn--wgv71a119e.jp/"), ("https://faß.example/", "https://xn--fa-hia.example/"),
            ("https://b%C3%BCcher.example/", "https://xn--bcher-kva.example/"), ("https://a%2Db.example/", "https://a-b.example/"),
            ("//cdn.example/a.jpg", "https://cdn.example/a.jpg"), ("\\\\cdn.example\\a.jpg", "https://cdn.example/a.jpg"),
            ("https:\\\\example.com\\a\\b?c\\d#e\\f", "https://example.com/a/b?c%5Cd#e%5Cf"),
            ("https:example.com/a", "https://example.com/a"),
            ("https:/example.com/a", "https://example.com/a"), ("https:////example.com/a", "https://example.com/a"),
            ("https://example.com/100%", "https://example.com/100%"), ("https://example.com/%zz%4", "https://example.com/%zz%4"),
            ("https://example.com/%20%d1", "https://example.com/%20%d1"), ("http://example.com:80/", "http://example.com/"),
            ("https://example.com:00443/", "https://example.com/"), ("https://example.com:80/", "https://example.com:80/"),
            ("https://example.com:/a", "https://example.com/a"), ("https://[2001:db8::1]:8443/a", "https://[2001:db8::1]:8443/a"),
            ("https://example.com?a", "https://example.com/?a"), ("https://example.com/{a}|b^c`", "https://example.com/{a}|b^c`"),
            ("https://example.com/@u", "https://example.com/@u"), ("https://example.com/😀", "https://example.com/%F0%9F%98%80"),
            ("https://1.2.3.4/", "https://1.2.3.4/"), ("http://0x7f.1/", "http://0x7f.1/"), ("http://2130706433/", "http://2130706433/"),
            ("https://1.2.3.a/", "https://1.2.3.a/"), ("https://256.example/", "https://256.example/"),
            ("https://a_b.example./", "https://a_b.example./"), ("https://ex%41mple.com/", "https://example.com/"),
            ("https://[::FFFF:1.2.3.4]/", "https://[::ffff:1.2.3.4]/"),
            ("https://xn--bcher-kva.example/", "https://xn--bcher-kva.example/"),
            ("https://example.com/\u{7F}\u{0}a", "https://example.com/%7F%00a"),
        ])
    func absolute(_ text: String, _ expected: String) throws {
        #expect(try WebURL.absolute(text) == expected)
        #expect(try WebURL.absolute(expected) == expected)
    }

    @Test(
        "A URL relative to a page",
        arguments: [
            ("b.jpg", "http://example.com:8080/v1/b.jpg"), ("/b.jpg", "http://example.com:8080/b.jpg"),
            ("./b", "http://example.com:8080/v1/./b"),
            ("../b", "http://example.com:8080/v1/../b"), ("?p=2", "http://example.com:8080/v1/list?p=2"),
            ("", "http://example.com:8080/v1/list?p=1"),
            ("#x", "http://example.com:8080/v1/list?p=1#x"), ("//cdn.example/b", "http://cdn.example/b"),
            ("\\b", "http://example.com:8080/b"),
            ("/\\cdn.example/b", "http://cdn.example/b"), ("http:b", "http://example.com:8080/v1/b"),
            ("http:/b", "http://example.com:8080/b"),
            ("http://cdn.example/b", "http://cdn.example/b"), ("https:cdn.example/b", "https://cdn.example/b"),
            (" ü b ", "http://example.com:8080/v1/%C3%BC%20b"),
            ("a:b", nil), ("javascript:alert(1)", nil), ("mailto:a@b.example", nil), ("data:image/png;base64,AA", nil),
        ])
    func relative(_ text: String, _ expected: String?) throws {
        #expect((try? WebURL.absolute(text, relativeTo: "http://example.com:8080/v1/list?p=1#top")) == expected)
        #expect(try WebURL.absolute("a", relativeTo: "https://example.com") == "https://example.com/a")
    }

    @Test(
        "Each invalid URL has its reason",
        arguments: [
            ("", WebURL.Failure.relative), ("example.com", .relative), ("/a", .relative), ("?a", .relative),
            ("ftp://example.com/", .scheme),
            ("javascript:alert(1)", .scheme), ("localhost:8080/a", .scheme), ("https://", .host), ("https:///", .host),
            ("https://?a", .host),
            ("https://exa mple.com/", .host), ("https://exa<mple.com/", .host), ("https://a%20b/", .host), ("https://a%/", .host),
            ("https://a%00b/", .host), ("https://exam%20ple.com/", .host), ("https://a%2fb.com/", .host), ("https://x.com%00/", .host),
            ("https://a|b.com/", .host), ("https://a^b.com/", .host), ("https://a%25b.com/", .host), ("https://1.2.3.256/", .host),
            ("https://1.2.3.08/", .host), ("https://1.2.3.4.5/", .host), ("https://a.b.0x1g2/", nil), ("https://a.0x1f/", .host),
            ("https://4294967296/", .host), ("https://a.1/", .host), ("https://a..b/", .host), ("https://./", .host),
            ("https://[1:2]/", .host), ("https://[]/", .host), ("https://[::1/", .host), ("https://[fe80::1%25eth0]/", .host),
            ("https://[1.2.3.4]/", .host), ("https://xn--/", .host), ("https://a.XN--.com/", .host),
            ("https://\(String(repeating: "a", count: 64)).com/", .host),
            ("https://\(String(repeating: "a.", count: 127))com/", .host),
            ("https://example.com:65536/", .port), ("https://example.com:8o/", .port), ("https://example.com:-1/", .port),
            ("https://user@example.com/", .userInfo), ("https://u:p@example.com/", .userInfo), ("https://a\\@example.com/", nil),
            ("//u@example.com/", .userInfo),
        ])
    func refused(_ text: String, _ expected: WebURL.Failure?) {
        do throws(WebURL.Failure) {
            let url = try WebURL.absolute(text)
            #expect(expected == nil, "\(url)")
        } catch {
            #expect(error == expected)
        }
    }
}
