extension ConformanceCase {
    /// RFC 9112, 2.2, 3.2 and 5; RFC 9110, 5.
    public static let fields: [ConformanceCase] =
        [
            refused("F1", get("Name : v")), refused("F1", get("Name\t: v")),
            refused("F2", "GET / HTTP/1.1\r\n Name: v\r\nHost: a\r\n\r\n"),
            refused("F3", get("A: x\r\n y")), refused("F3", get("Content-Length: 0\r\n\t0")),
            refused("F3", "GET / HTTP/1.1\r\nHost:\r\n a\r\n\r\n"),
            refused("F4", get("nocolon")), refused("F4", get(": v")), refused("F4", get(":")),
            refused("F6", get("A: x\0y")), refused("F6", get("A: x\ry")), refused("F6", get("A: x\ny")),
            ConformanceCase("F8", get("Accept-Language: \t a\tb \t "), 200, ending: "a\tb\n"), ConformanceCase("F8", get("A:"), 200),
            ConformanceCase("F8", get("A:\t "), 200),
            ConformanceCase("F8", Array("GET / HTTP/1.1\r\nHost: a\r\nA: ".utf8) + [0x80, 0xFF, 0xA0] + Array("\r\n\r\n".utf8), 200),
            refused("F9", "GET / HTTP/1.1\r\nHost: a\nA: b\r\n\r\n"), refused("F9", "GET / HTTP/1.1\r\nHost: a\n\n"),
            refused("F9", "GET / HTTP/1.1\r\nHost: a\r\n\n"), refused("F9", "GET / HTTP/1.1\r\nHost: a\r\n\r\r"),
            refused("F9", "GET / HTTP/1.1\r\nHost: a\r\r"),
            ConformanceCase("F10", get().replacingEnd(with: (1...99).map { "A\($0): b" }), 200),
            refused("F10", get().replacingEnd(with: (1...100).map { "A\($0): b" }), 431),
            ConformanceCase("F11", get("A: " + String(repeating: "x", count: 15 * 1024)), 200),
            refused("F11", get("A: " + String(repeating: "x", count: 16 * 1024)), 431),
            refused("F11", get(String(repeating: "x", count: 17 * 1024)), 431),
            ConformanceCase("F12", get("Accept-Language: de", "ACCEPT-language: fr"), 200, ending: "de, fr\n"),
            ConformanceCase("F14", get("Content_Length: 5"), 200), ConformanceCase("F14", get("Transfer_Encoding: chunked"), 200),
            ConformanceCase("F15", get("X-Forwarded-For: 1.2.3.4", "Forwarded: for=x"), 200),
            refused("H1", "GET / HTTP/1.1\r\n\r\n"), refused("H1", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"),
            ConformanceCase("H3", "GET / HTTP/1.0\r\n\r\n", 200, closes: true),
            ConformanceCase("C1", get("Connection: x\"y, close"), 200, closes: true),
            ConformanceCase("C1", get("Connection: \"close\""), 200),
            // The answer to HEAD is a head, also where the request can not be understood.
            refused("O3", head("A : b")), refused("O3", head("Content-Length: 0", "Transfer-Encoding: chunked")),
            refused("O3", head("Transfer-Encoding: gzip"), 501), refused("O3", head("Host: b")),
            refused("O3", head((1...100).map { "A\($0): b" }.joined(separator: "\r\n")), 431),
            refused("O3", "HEAD / HTTP/1.1\r\n\r\n"), refused("O3", "HEAD / HTTP/1.1\r\nHost: a b\r\n\r\n"),
            refused("O3", "HEAD / HTTP/2.0\r\n", 505), refused("O3", "HEAD * HTTP/1.1\r\nHost: a\r\n\r\n"),
            refused("O3", "HEAD /" + String(repeating: "a", count: 8_200), 414),
        ]
        + ["a b", "\u{1}", "\u{7F}", "é", "(", ")", ",", "/", ";", "<", "=", ">", "?", "@", "[", "]", "{", "}", "\""].map {
            refused("F5", get("na\($0)me: v"))
        }
        + (Array(1...8) + [0x0B, 0x0C, 0x0E, 0x1F, 0x7F]).map { refused("F7", get("A: x\(Character(Unicode.Scalar(UInt8($0))))y")) }
        + ["Content-Type: a/b", "Authorization: x", "If-Modified-Since: x", "Range: bytes=0-1"].map {
            refused("F13", get($0, $0))
        }
        + [
            "a b", "a,b", "u@a", "a/p", "###", "", "a:b", "a:70000", "[::1", "[]", "[::1]x", ":80", "[ab]", "[1.2.3.4]", "[::::]", "a%00",
            "a%0d%0ab", "a%2Fb",
        ].map {
            refused("H2", "GET / HTTP/1.1\r\nHost: \($0)\r\n\r\n")
        }
        + ["a", "a:80", "[::1]:8080", "[::ffff:192.0.2.1]", "a.", "127.0.0.1", "a_b", "a%C3%BC"].map {
            ConformanceCase("H3", "GET / HTTP/1.1\r\nHost: \($0)\r\n\r\n", 200)
        }
}

extension ConformanceCase {
    private static func head(_ fields: String...) -> String {
        "HEAD / HTTP/1.1\r\nHost: a\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n"
    }
}

extension String {
    /// Puts more field lines at the end of a head.
    fileprivate func replacingEnd(with lines: [String]) -> String {
        String(self.unicodeScalars.dropLast(2).map(Character.init)) + lines.map { $0 + "\r\n" }.joined() + "\r\n"
    }
}
