import IntertwineImages

/// URLs of images: what is plain enough for a link must be one that is fetched. They arrive whole.
struct URLFuzz: FuzzTarget {
    let name = "URLs"
    let corpus = [
        "https://example.com/a.png", "http://a.b:8080/c/d?e=f&g=%20h", "https://[2001:db8::1]/x", "http://127.0.0.1/",
        "https://user:x@a/#b",
        "https://xn--e1afmkfd/ä", "http://0x7f.1/..", "HTTPS://EXAMPLE.com:443//",
    ].map { Array($0.utf8) }
    let telling = Array(":/?#[]@!$&'()*+,;=%.-_~\\\"<>^`{|} \t\r\n\0".utf8) + [0x7F, 0x80, 0xC3, 0xFF]

    func verdict(on input: [UInt8], cut: (Int) -> Int) -> String {
        let text = String(decoding: input, as: UTF8.self)
        let isPlain = FetchURL.isPlain(text)
        guard let url = try? FetchURL(text) else {
            precondition(!isPlain, "\(text.debugDescription) is plain, and cannot be fetched")
            return "refused"
        }
        precondition((try? FetchURL(url.description)) == url, "\(text.debugDescription) is another one when it is read again")
        return "\(isPlain) \(url)"
    }
}
