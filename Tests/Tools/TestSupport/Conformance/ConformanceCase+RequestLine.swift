extension ConformanceCase {
    /// RFC 9112, 2.2 and 3; RFC 9110, 7 and 9.
    public static let requestLines: [ConformanceCase] =
        [
            ConformanceCase("L1", "\r\n" + get(), 200), ConformanceCase("L1", "\r\n\r\n" + get(), 200), refused("L1", "\r\n\r\n\r\n"),
            refused("L2", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n"), refused("L2", "GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n"),
            refused("L2", " GET / HTTP/1.1\r\nHost: a\r\n\r\n"), refused("L2", "GET / HTTP/1.1 \r\nHost: a\r\n\r\n"),
            refused("L2", "GET /  HTTP/1.1\r\nHost: a\r\n\r\n"),
            refused("L3", "GET /\r\n\r\n"), refused("L3", "GET / \r\n\r\n"), refused("L3", "GET HTTP/1.1\r\n\r\n"),
            refused("L3", "   \r\n"),
            refused("L4", "GET / HTTP/1.1\nHost: a\r\n\r\n"), refused("L4", "GET / HTTP/1.1\rHost: a\r\n\r\n"),
            refused("L4", "GET /\r HTTP/1.1\r\n\r\n"), refused("L4", "GET /\nHTTP/1.1\r\nHost: a\r\n\r\n"), refused("L4", "\n" + get()),
            ConformanceCase("L5", "GET / HTTP/1.2\r\nHost: a\r\n\r\n", 200),
            refused("L6", "GET / HTTP/2.0\r\n", 505), refused("L6", "GET / HTTP/9.9\r\n", 505), refused("L6", "GET / HTTP/0.9\r\n", 505),
            refused("L8", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505), refused("L8", "PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n"),
            refused("L8", "\u{16}\u{3}\u{1}\u{2}\u{0}"),
            ConformanceCase("L10", "FOO / HTTP/1.1\r\nHost: a\r\n\r\n", 501),
            ConformanceCase("L10", "get / HTTP/1.1\r\nHost: a\r\n\r\n", 501),
            ConformanceCase("L10", "FOO * HTTP/1.1\r\nHost: a\r\n\r\n", 501),
            refused("L11", "G=\":<> / HTTP/1.1\r\n"), refused("L11", "GET\0 / HTTP/1.1\r\n"), refused("L11", "GETß / HTTP/1.1\r\n"),
            ConformanceCase("L11", "-bl / HTTP/1.1\r\nHost: a\r\n\r\n", 501),
            ConformanceCase("L12", String(repeating: "A", count: 63) + " / HTTP/1.1\r\nHost: a\r\n\r\n", 501),
            refused("L12", String(repeating: "A", count: 65), 501),
            refused("L12", String(repeating: "A", count: 65) + " / HTTP/1.1\r\n", 501),
            ConformanceCase("L13", "DELETE /feed HTTP/1.1\r\nHost: a\r\n\r\n", 405),
            ConformanceCase("L14", "CONNECT x:443 HTTP/1.1\r\nHost: a\r\n\r\n", 405, closes: true),
            ConformanceCase("L15", "TRACE / HTTP/1.1\r\nHost: a\r\nAuthorization: secret\r\n\r\n", 405),
            ConformanceCase("L15", "TRACE / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", 405),
            ConformanceCase("L16", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", 204),
            refused("L17", "GET * HTTP/1.1\r\nHost: a\r\n\r\n"), refused("L17", "TRACE * HTTP/1.1\r\nHost: a\r\n\r\n"),
            refused("L17", "GET example.com:443 HTTP/1.1\r\nHost: a\r\n\r\n"),
            refused("L17", "GET foo/bar HTTP/1.1\r\nHost: a\r\n\r\n"),
            ConformanceCase("L18", "GET http://b/p HTTP/1.1\r\nHost: b\r\n\r\n", 200, ending: "GET b /p\n"),
            ConformanceCase("L18", "GET HTTP://B:80?q=1 HTTP/1.1\r\nHost: b\r\n\r\n", 200, ending: "GET B:80 /?q=1\n"),
            ConformanceCase("L18", "GET http://b:8/p HTTP/1.1\r\nHost: B:8\r\n\r\n", 200, ending: "GET b:8 /p\n"),
            ConformanceCase("L18", "GET http://b/p HTTP/1.0\r\n\r\n", 200, closes: true, ending: "GET b /p\n"),
            refused("L18", "GET http://b/p HTTP/1.1\r\nHost: a\r\n\r\n", 421),
            refused("L18", "GET http://a:81/p HTTP/1.1\r\nHost: a\r\n\r\n", 421),
            ConformanceCase("L18", "GET https://a/p HTTP/1.1\r\nHost: a\r\n\r\n", 200, ending: "GET a /p\n"),
            ConformanceCase("L18", "GET HTTPS://A:443?q HTTP/1.1\r\nHost: a\r\n\r\n", 200, ending: "GET A:443 /?q\n"),
            ConformanceCase("L18", "GET https://a/p HTTP/1.1\r\nHost: a:443\r\n\r\n", 200, ending: "GET a /p\n"),
            ConformanceCase("L18", "GET https://a:8443/p HTTP/1.1\r\nHost: a:8443\r\n\r\n", 200, ending: "GET a:8443 /p\n"),
            refused("L18", "GET https://b/p HTTP/1.1\r\nHost: a\r\n\r\n", 421),
            refused("L18", "GET https://a:80/p HTTP/1.1\r\nHost: a\r\n\r\n", 421),
            refused("L18", "GET http://a:443/p HTTP/1.1\r\nHost: a\r\n\r\n", 421),
            refused("L18", "GET wss://a/p HTTP/1.1\r\nHost: a\r\n\r\n", 421),
            refused("L18", "OPTIONS svn+ssh://a HTTP/1.1\r\nHost: a\r\n\r\n", 421),
            refused("L18", "GET http://b/p HTTP/1.1\r\n\r\n"),
            refused("L19", "GET http://u@b/p HTTP/1.1\r\nHost: a\r\n\r\n"), refused("L19", "GET http:///p HTTP/1.1\r\nHost: a\r\n\r\n"),
            refused("L19", "GET ftp://b/p HTTP/1.1\r\nHost: b\r\n\r\n", 421),
            refused("L19", "GET https:///p HTTP/1.1\r\nHost: a\r\n\r\n"), refused("L19", "GET 1a://b/p HTTP/1.1\r\nHost: a\r\n\r\n"),
            refused("L19", "GET ://b/p HTTP/1.1\r\nHost: a\r\n\r\n"),
            refused("L19", "GET http://b:99999/p HTTP/1.1\r\nHost: a\r\n\r\n"),
            ConformanceCase("L22", "GET /" + String(repeating: "a", count: 7_984) + " HTTP/1.1\r\nHost: a\r\n\r\n", 200),
            refused("L23", "GET /" + String(repeating: "a", count: 8_200), 414),
        ]
        + [
            "HTTP/1", "HTTP/1.", "HTTP/01.1", "HTTP/1.10", "HTTP /1.1", "http/1.1", "FTP/1.1",
            "HTTP/" + String(repeating: "1", count: 5000),
        ]
        .map { refused("L7", "GET / \($0)\r\nHost: a\r\n\r\n") }
        + ["#frag", "\\", "\"", "<", ">", " x", "\u{1}", "\u{7F}", "?\u{1}", "?\u{7F}", "? x", "?\t"].map {
            refused("L20", "GET /\($0) HTTP/1.1\r\nHost: a\r\n\r\n")
        }
        + [[0xFF], [0xC3], [0xC0, 0xAF], [0xED, 0xA0, 0x80], Array("%C3".utf8) + [0x28]].map { (path: [UInt8]) in
            ConformanceCase("L20", Array("GET /".utf8) + path + Array(" HTTP/1.1\r\nHost: a\r\n\r\n".utf8), 400, closes: true)
        }
        // Browsers send these bytes in a query, and other senders of links do (RFC 3986 does not allow them).
        + [[0xFF], [0xC3, 0x28], [0xC0, 0xAF], [0x80]].map { (query: [UInt8]) in
            ConformanceCase("L24", Array("GET /?u=".utf8) + query + Array(" HTTP/1.1\r\nHost: a\r\n\r\n".utf8), 200)
        }
        + [
            "é", "日本/🐪", "?u=é", "?u=\\", "?u=\"<>#^`{|}", "?u=%", "?u=50%off", "?u=%u0416", "?u=%zz", "?u=%0", "?%=%&%%", "?u=%ff%c0%af",
            "?#x", "??",
        ].map { ConformanceCase("L24", "GET /\($0) HTTP/1.1\r\nHost: a\r\n\r\n", 200, ending: "/\($0)\n") }
        + ["%00", "%0d%0a", "%zz", "%", "%c0%af", "../..", "a/../b", "%2e%2e/b", "%0", "%ff"].map {
            refused("L21", "GET /\($0) HTTP/1.1\r\nHost: a\r\n\r\n")
        }
        + ["a%2Fb", "..a/b..", "a?b=../..", "%c3%a9", "a?b=%e9", "a?b=%00%0d%0a"].map {
            ConformanceCase("L21", "GET /\($0) HTTP/1.1\r\nHost: a\r\n\r\n", 200, ending: "/\($0)\n")
        }
}
