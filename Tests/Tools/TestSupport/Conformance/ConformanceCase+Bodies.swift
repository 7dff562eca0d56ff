extension ConformanceCase {
    /// RFC 9112, 6 and 7; RFC 9110, 8.6, 10.1.1 and 15.5.14.
    public static let bodies: [ConformanceCase] =
        [
            ConformanceCase("B1", post(["Content-Length: 5"], "hello"), 200, ending: "/\nhello"),
            ConformanceCase("B1", post(["Content-Length: 0"], ""), 200), ConformanceCase("B1", post([], ""), 200, ending: "/\n"),
            refused("B3", post(["Content-Length: 5, 5"], "hello")),
            refused("B3", post(["Content-Length: 5", "Content-Length: 5"], "hello")),
            ConformanceCase("B3", post(["Content-Length: 05"], "hello"), 200, ending: "/\nhello"),
            ConformanceCase("B3", post(["Content-Length: 000000000000000000000005"], "hello"), 200, ending: "/\nhello"),
            ConformanceCase("B3", post(["Content-Length: 00"], ""), 200, ending: "/\n"),
            refused("B3", post(["Content-Length: 5", "Content-Length: 05"], "hello")),
            refused("B3", post(["Content-Length: 05, 5"], "hello")),
            refused("B4", post(["Content-Length: 65537"], ""), 413),
            refused("B4", "POST /ten HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n", 413),
            refused("B4", "POST /ten HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nB\r\nhello world\r\n0\r\n\r\n", 413),
            refused("B4", "POST /ten HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\nExpect: 100-continue\r\n\r\n", 413),
            refused("B4", post(["Content-Length: 9223372036854775807"], ""), 413),
            refused("B4", post(["Content-Length: 1000000000000000000"], ""), 413),
            // The size alone tells: the chunk is not waited for.
            refused("B4", "POST /ten HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nB\r\n", 413),
            refused("B4", "POST /ten HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nhello \r\n5\r\n", 413),
            refused("B4", chunked("10001\r\n"), 413), refused("B4", chunked("7FFFFFFFFFFFFFFF\r\n"), 413),
            refused("B5", post(["Content-Length: 5", "Transfer-Encoding: chunked"], "0\r\n\r\n")),
            refused("B5", post(["transfer-encoding: CHUNKED", "content-length: 0"], "0\r\n\r\n")),
            refused("B5", post(["Transfer-Encoding: gzip", "Content-Length: x"], "")),
            ConformanceCase("B6", post(["Transfer-Encoding: Chunked"], "1\r\na\r\n0\r\n\r\n"), 200, ending: "\na"),
            ConformanceCase("B6", post(["Transfer-Encoding:  \tchunked\t"], "1\r\na\r\n0\r\n\r\n"), 200, ending: "\na"),
            refused("B9", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
            refused("B9", "POST / HTTP/1.0\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
            ConformanceCase(
                "B10", chunked("5\r\nhello\r\nA\r\n0123456789\r\na\r\n0123456789\r\n005\r\nworld\r\n0\r\n\r\n"), 200,
                ending: "\nhello01234567890123456789world"),
            ConformanceCase("B10", chunked("0\r\n\r\n"), 200, ending: "/\n"),
            refused("B14", chunked(String(repeating: "1;" + String(repeating: "x", count: 1024) + "\r\na\r\n", count: 5) + "0\r\n\r\n")),
            ConformanceCase("B16", chunked("1\r\na\r\n0\r\nX: y\r\nZ: \r\n\r\n"), 200, ending: "\na"),
            refused("B18", chunked("0\r\nX: " + String(repeating: "y", count: 4096) + "\r\n\r\n")),
            refused("B18", chunked("0\r\n" + String(repeating: "X: y\r\n", count: 17) + "\r\n")),
            ConformanceCase("B20", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", 200, ending: "\nabc"),
            ConformanceCase("B20", "HEAD / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", 200),
            ConformanceCase(
                "B20", "DELETE / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", 200, ending: "\nabc"),
            ConformanceCase(
                "B21", "POST /early HTTP/1.1\r\nHost: a\r\nContent-Length: 30\r\n\r\n" + String(repeating: "x", count: 30), 403),
            ConformanceCase("B21", "POST /early HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", 403),
            refused("B21", "POST /early HTTP/1.1\r\nHost: a\r\nContent-Length: 65537\r\n\r\n", 403),
            ConformanceCase("B22", post(["Content-Encoding: gzip", "Content-Length: 3"], "abc"), 415),
            ConformanceCase("B22", post(["Content-Encoding: identity", "Content-Encoding: gzip", "Content-Length: 3"], "abc"), 415),
            ConformanceCase("B22", post(["Content-Encoding: identity", "Content-Length: 3"], "abc"), 200, ending: "\nabc"),
            ConformanceCase("B24", get("Expect: 100-continue"), 200),
            refused("B24", "POST /early HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc", 403),
            ConformanceCase(
                "B24", "POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc", 200, closes: true, ending: "\nabc"),
            ConformanceCase("B24", get("Expect: 100-continue", "Expect: 100-Continue"), 200),
            ConformanceCase("B24", get("Expect: 100-continue, , 100-continue", "Expect:"), 200),
            ConformanceCase("B26", get("Expect: 100-continue", "Expect: foo"), 417),
            ConformanceCase("B26", get("Expect: foo=\"100-continue, 100-continue\""), 417),
            ConformanceCase("B26", get("Expect: foo"), 417),
            // What is finished and lies ready is no way around it.
            ConformanceCase("B26", "GET /page HTTP/1.1\r\nHost: a\r\nExpect: foo\r\n\r\n", 417),
            ConformanceCase("B26", "HEAD /image HTTP/1.1\r\nHost: a\r\nExpect: 100-continue, foo\r\n\r\n", 417),
            ConformanceCase("B26", "GET /page HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n", 200),
            refused("B26", post(["Expect: 100-continue, foo", "Content-Length: 3"], "abc"), 417),
            ConformanceCase("B27", get("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: x"), 200),
            ConformanceCase("B27", get("Connection: Upgrade", "Upgrade: websocket"), 200),
        ]
        + [
            "-1", "-0", "+5", "+05", "-05", "0 5", "0_5", "0x5", "0x05", "05.0", "5e0", "5a", "1_0", "5 5", "5,6", "", "５",
            "12345678901234567890", "9223372036854775808",
            "18446744073709551616",
        ].map { refused("B2", post(["Content-Length: \($0)"], "")) }
        + ["gzip", "identity", "xchunked", "\"chunked\"", "chunke", "gzip, chunked", "a,b ,\tCHUNKED"].map {
            refused("B7", post(["Transfer-Encoding: \($0)"], ""), 501)
        }
        + [
            "chunked, gzip", "gzip, deflate", "gzip, chunked, chunked", "chunked, gzip, chunked", "gzip;q=1, chunked", "gzip, \"chunked\"",
            "chunked, chunked", "chunked\r\nTransfer-Encoding: chunked", ", chunked", "chunked,", "", "chunked;p=1",
            "\u{0B}chunked", "chunked\u{0C}", "\u{A0}chunked", "chunked\r",
        ].map { refused("B8", post(["Transfer-Encoding: \($0)"], "0\r\n\r\n")) }
        + [
            "\r\n", "0x5\r\n", "+5\r\n", "-5\r\n", "5_0\r\n", " 5\r\n", "5 \r\n", "5\t\r\n", "G\r\n", "00000000000000005\r\n",
            "FFFFFFFFFFFFFFFF1\r\n", "FFFFFFFFFFFFFFFF\r\n", "8000000000000000\r\n",
        ].map { refused("B11", chunked($0)) }
        + ["5;a", "5;a=b", "5;a=\"q\\\"q\"", "5 ;a", "5;a=b;c", "5 ; a = b"].map {
            ConformanceCase("B12", chunked("\($0)\r\nhello\r\n0\r\n\r\n"), 200, ending: "\nhello")
        }
        + ["5;", "5;[", "5;a\rb", "5;a\n", "5;\0", "5;a=\"b", "5;a=", "5;a "].map { refused("B13", chunked("\($0)\r\nhello\r\n0\r\n\r\n")) }
        + ["hello!!", "helloXX", "hello\n0", "hello\r0"].map { refused("B15", chunked("5\r\n\($0)\r\n0\r\n\r\n")) }
        // Two other bytes exactly where CRLF belongs: whoever skips two bytes blindly takes these for whole.
        + ["!!", "XX", "\n\n", "\r\r", "\n\r"].map { refused("B15", chunked("5\r\nhello\($0)0\r\n\r\n")) }
        + ["Content-Length: 5", "Transfer-Encoding: chunked", "Host: b", "Authorization: x", "Content-Type: a/b", "X : y", " X: y", ": y"]
        .map {
            refused("B17", chunked("0\r\n\($0)\r\n\r\n"))
        }
}
