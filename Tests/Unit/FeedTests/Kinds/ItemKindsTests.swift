import Testing

@testable import IntertwineFeed

@Suite("Item kinds")
struct ItemKindsTests {
    static let user = [
        "kind": #""user""#, "id": #""tt""#, "username": #""Tongue Twister""#, "avatarUrl": #""https://a.example/1.png""#,
        "type": #""featured""#,
    ]
    static let ad = [
        "kind": #""ad""#, "id": "1", "contentUrl": #""https://a.example/1.png""#, "clickthroughUrl": #""https://b.example/""#,
        "type": #""image""#,
    ]

    static func text(_ fields: [String: String], _ changes: [String: String?] = [:]) -> [UInt8] {
        var fields: [String: String?] = fields.mapValues { $0 }
        for (name, value) in changes { fields[name] = value }
        let members = fields.sorted { $0.key < $1.key }.compactMap { name, value in value.map { "\"\(name)\":\($0)" } }
        return Array("{\(members.joined(separator: ","))}".utf8)
    }

    private func stored(_ item: ValidatedItem) -> FeedItem {
        FeedItem(kind: item.kind, id: item.id, variant: item.variant, position: 1, body: item.body)
    }

    @Test("A user round-trips through its body")
    func userRoundTrip() throws {
        let item = try ItemKinds.standard.validate(
            Self.text(Self.user, ["backgroundUrl": #""http:\/\/b.example\/?q=\u0061""#, "extra": "[{}]"]))
        #expect(item.stream == .content)
        #expect(
            try User(item: stored(item))
                == User(
                    id: "tt", username: "Tongue Twister", avatarURL: "https://a.example/1.png", backgroundURL: "http://b.example/?q=a",
                    variant: .featured))
    }

    @Test("An advertisement round-trips through its body")
    func advertisementRoundTrip() throws {
        let item = try ItemKinds.standard.validate(Self.text(Self.ad, ["type": #""audio""#]))
        #expect(item.stream == .advertisements)
        #expect(
            try Advertisement(item: stored(item))
                == Advertisement(id: "1", contentURL: "https://a.example/1.png", clickthroughURL: "https://b.example/", variant: .audio))
    }

    @Test("A user without an id gets its username as id", arguments: [nil, "null"])
    func missingID(_ id: String?) throws {
        #expect(try ItemKinds.standard.validate(Self.text(Self.user, ["id": id])).id == "Tongue Twister")
    }

    @Test("A username may contain a line break unless it is the id", arguments: [nil, "null", #""tt""#])
    func usernameAsID(_ id: String?) throws {
        let text = Self.text(Self.user, ["id": id, "username": #""a\nb""#])
        if id == #""tt""# {
            #expect(try ItemKinds.standard.validate(text).id == "tt")
        } else {
            let error = #expect(throws: ItemError.self) { try ItemKinds.standard.validate(text) }
            #expect(error == ItemError(field: "username", reason: "contains a control character, which an id must not have"))
        }
    }

    @Test("A background may be missing or null", arguments: [nil, "null"])
    func missingBackground(_ value: String?) throws {
        let item = try ItemKinds.standard.validate(Self.text(Self.user, ["backgroundUrl": value]))
        #expect(try User(item: stored(item)).backgroundURL == nil)
    }

    @Test(
        "A numeric id equals its decimal text",
        arguments: [
            ("1", "1"), (#""1""#, "1"), ("1.0", "1"), ("-0.00", "0"), ("-7", "-7"), ("-0", "0"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
        ])
    func numericID(_ id: String, _ expected: String) throws {
        #expect(try ItemKinds.standard.validate(Self.text(Self.ad, ["id": id])).id == expected)
    }

    @Test("Equal items in different spellings have equal bodies")
    func canonical() throws {
        let plain = try ItemKinds.standard.validate(Self.text(Self.user, ["username": #""Zoë/1""#]))
        let escaped = try ItemKinds.standard.validate(Self.text(Self.user, ["username": #""Zo\u00eb\/1""#, "age": "3"]))
        #expect(plain == escaped)
    }

    @Test(
        "A bad field is reported with its name and the reason",
        arguments: [
            (user, "kind", nil, "kind: is missing"),
            (user, "kind", #""event""#, #"kind: must be one of ad, user, is "event""#),
            (user, "kind", "7", "kind: must be a string, is a number"), (user, "username", nil, "username: is missing"),
            (user, "username", #""""#, "username: is missing"), (user, "username", "[]", "username: must be a string, is an array"),
            (user, "id", "{}", "id: must be a string, is an object"),
            (user, "id", #""a\tb""#, "id: contains a control character, which an id must not have"),
            (ad, "id", #""\u007f""#, "id: contains a control character, which an id must not have"),
            (ad, "id", "1.01", #"id: must be a whole number or a string, is "1.01""#),
            (ad, "id", "1.5e-2", #"id: must be a whole number or a string, is "1.5e-2""#),
            (user, "id", "1.5", #"id: must be a whole number or a string, is "1.5""#), (user, "avatarUrl", nil, "avatarUrl: is missing"),
            (user, "type", nil, "type: is missing"),
            (user, "type", #""Regular""#, #"type: must be one of regular, featured, is "Regular""#),
            (user, "type", "true", "type: must be a string, is a boolean"),
            (user, "backgroundUrl", "0", "backgroundUrl: must be a string, is a number"),
            (user, "username", "\"\(String(repeating: "é", count: 513))\"", "username: is longer than 512 characters"),
            (ad, "id", nil, "id: is missing"), (ad, "id", "null", "id: is missing"), (ad, "contentUrl", nil, "contentUrl: is missing"),
            (ad, "type", #""banner""#, #"type: must be one of image, video, audio, is "banner""#),
            (
                ad, "clickthroughUrl", #""javascript:alert(1)""#,
                #"clickthroughUrl: must be an absolute http or https URL: "javascript:alert(1)""#
            ),
        ] as [([String: String], String, String?, String)])
    func badField(_ fields: [String: String], _ field: String, _ value: String?, _ message: String) {
        let error = #expect(throws: ItemError.self) { try ItemKinds.standard.validate(Self.text(fields, [field: value])) }
        #expect(error?.description == message)
    }

    @Test("A duplicate field is an error only if the kind reads it")
    func twice() throws {
        let text = { (extra: String) in Array(#"{"kind":"user","username":"a","avatarUrl":"http://a/","type":"regular"\#(extra)}"#.utf8) }
        let error = #expect(throws: ItemError.self) { try ItemKinds.standard.validate(text(#","user\u006eame":"b""#)) }
        #expect(error == ItemError(field: "username", reason: "occurs twice", code: .duplicate))
        _ = try ItemKinds.standard.validate(text(#","x":1,"x":2"#))
    }

    @Test("Messages replace terminal control characters in values")
    func quoting() {
        let error = #expect(throws: ItemError.self) {
            try ItemKinds.standard.validate(Self.text(Self.user, ["type": #""\u001b[31m\u202e""#]))
        }
        #expect(error?.reason == #"must be one of regular, featured, is "?[31m?""#)
    }

    @Test(
        "Absolute http and https URLs are accepted",
        arguments: [
            "http://a", "HTTPS://A.example:443/p?q#f", "http://[::1]:80/", "https://a.b/%zz{|}^`", "http://a:/", "http://a?b@c",
            "http://127.0.0.1:65535", "http://a_b.example./", "http://0x7f.1/", "http://1.example/", "http://[::ffff:1.2.3.4]",
        ])
    func goodURL(_ url: String) {
        #expect(ItemURL.error(in: ArraySlice(url.utf8)) == nil)
    }

    @Test(
        "Other URLs are refused",
        arguments: [
            "", "a", "//a/", "/a", "ftp://a/", "http:/a", "http:a", "http://", "http:///a", "http://?a", "javascript://a/", "data:,a",
            "http://user@a/", "http://u:p@a/", "http://a b/", "http://a/\r\nX: y", "http://a/\u{0}", "http://ä/", "http://a/é",
            "http://a\\b",
            "http://a/\"", "http://a/<", "http://[::1", "http://[]/", "http://a:65536/", "http://a:x/", "http://:80/", " http://a/",
            "http://[::1]x/", "http://a%41.example/", "http://exam%20ple.com/", "http://a%2fb.com/", "http://x.com%00/", "http://a|b.com/",
            "http://a^b.com/", "http://1.2.3.256/", "http://a.1/", "http://[1:2]/",
            "http://xn--/", "http://a..b/", "http://./", "http://\(String(repeating: "a", count: 64)).example/",
            "https\u{1A}//a/", "HTTP\u{3A}\u{0F}/a",
        ])
    func badURL(_ url: String) {
        #expect(ItemURL.error(in: ArraySlice(url.utf8)) != nil)
    }

    @Test("A URL has at most 8,000 bytes")
    func longURL() {
        let url = Array(("https://a.example/" + String(repeating: "a", count: 7_982)).utf8)
        #expect(url.count == 8_000)
        #expect(ItemURL.error(in: url[...]) == nil)
        #expect(ItemURL.error(in: (url + [UInt8(ascii: "a")])[...]) != nil)
    }
}
