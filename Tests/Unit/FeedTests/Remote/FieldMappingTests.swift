import Testing

@testable import IntertwineFeed
@testable import IntertwinePrimitives

@Suite("Mappings from the values of a source")
struct FieldMappingTests {
    /// Returns the mapped field as JSON; nil if it has no value, and the reason if it is invalid.
    private static func mapped(_ origin: FieldMapping.Origin, _ json: String, _ name: String = "field") throws -> String? {
        let object = try JSONObject(Array(json.utf8), isLenient: true)
        let fields = try FieldMapping([(name, origin)]).fields(from: object)
        let found: JSONToken?
        do { found = try fields.token(name) } catch { return error.reason }
        return found.map { token in
            token.kind == .string
                ? "\"\(String(decoding: fields.object.characters(of: token), as: UTF8.self))\""
                : String(decoding: fields.object.bytes[token.range], as: UTF8.self)
        }
    }

    private static func mapped(_ form: SourceForm, _ value: String) throws -> String? {
        try mapped(FieldMapping.Origin(.first([JSONPointer(member: "v")]), as: form), "{\"v\":\(value)}")
    }

    @Test(
        "HTML becomes the text that a person reads",
        arguments: [
            ("Salt &amp; Pepper&#8217;s caf&eacute; &#8211; part 1 &hellip; <em>new</em>", "Salt & Pepper’s café – part 1 … new"),
            ("<p>Lorem &#8220;ipsum&#8221; 1</p>\n", "Lorem “ipsum” 1"), ("<p>one</p><p>two</p>", "one\ntwo"), ("a<br>b<br/>c", "a\nb\nc"),
            ("a < b && c > d", "a < b && c > d"), ("AT&T &nosuch; &", "AT&T &nosuch; &"),
            ("&#x41;&#X42;&#67;&#128;&#150;&#0;&#xD800;", "ABC€–\u{FFFD}\u{FFFD}"),
            ("<a href=\"x>y\" title='>'>link</a>", "link"), ("<!-- <b> -->x<script>if (a<b) {}</script>y<style>p{}</style>z", "xyz"),
            ("  many \n\t spaces  ", "many spaces"), ("<ul><li>one</li><li>two</li></ul>", "one\ntwo"),
            ("&copy 2026 &hearts;&trade;&nbsp;&apos;", "© 2026 ♥™\u{A0}'"),
            ("<td>a</td><td>b</td>", "a b"), ("&amp;lt;b&amp;gt;", "&lt;b&gt;"), ("plain", "plain"), ("<b", ""), ("1 <2", "1 <2"),
            ("&Auml;&szlig;&Omega;&rarr;", "ÄßΩ→"), ("&ccaron;&Zcaron;&lstrok;&odblac;", "čŽłő"),
            ("&copy2026&nbspx &halfway", "©2026\u{A0}x &halfway"),
            ("&#99999999999;", "\u{FFFD}"), ("<STYLE>p{}</Style>t", "t"), ("<svg><text>no</text></svg>yes", "yes"),
            ("<script>a</scrip></script>b", "b"),
            ("<![CDATA[hello <b>x</b>]]>", "hello x"), ("<p><![CDATA[a > b & AT&T]]></p>", "a > b & AT&T"),
        ])
    func html(_ html: String, _ text: String) throws {
        var json: [UInt8] = []
        json.append(jsonString: html.utf8)
        #expect(try Self.mapped(.text, String(decoding: json, as: UTF8.self)) == (text.isEmpty ? nil : "\"\(text)\""))
    }

    @Test("Long HTML is read in time that grows with its length", .timeLimit(.minutes(1)))
    func long() throws {
        for (part, count) in [
            ("<svg></svg>", 60_000), ("<svg>", 100_000), ("<a \"", 150_000), ("&", 500_000), ("<!--", 150_000),
            ("&aaaaaaaaaaaaaaaaaaaaaaa", 30_000),
        ] {
            var json: [UInt8] = []
            json.append(jsonString: String(repeating: part, count: count).utf8)
            _ = try Self.mapped(.text, String(decoding: json, as: UTF8.self))
        }
    }

    @Test(
        "Dates as APIs write them",
        arguments: [
            (#""2026-11-05""#, "2026-11-05"), (#""2026-11-05T08:30:00Z""#, "2026-11-05T08:30:00Z"),
            (#""2026-11-05t08:30:00z""#, "2026-11-05T08:30:00Z"),
            (#""2026-11-05T08:30:00+0000""#, "2026-11-05T08:30:00Z"), (#""2026-11-05T10:30:00+02:00""#, "2026-11-05T08:30:00Z"),
            (#""2026-11-05T10:30:00+02""#, "2026-11-05T08:30:00Z"), (#""2026-11-05 03:30:00-0500""#, "2026-11-05T08:30:00Z"),
            (#""2026-11-05 08:30:00 UTC""#, "2026-11-05T08:30:00Z"),
            (#""2026-11-05 08:30:00 +00:00""#, "2026-11-05T08:30:00Z"), (#""2026-11-05T08:30Z""#, "2026-11-05T08:30:00Z"),
            (#""2026-11-05T08:30:00.25Z""#, "2026-11-05T08:30:00.250Z"),
            (#""2026-11-05T08:30:00,250Z""#, "2026-11-05T08:30:00.250Z"),
            (#""2026-11-05T08:30:00.123456789Z""#, "2026-11-05T08:30:00.123Z"),
            (#""2026-11-05T08:30:00""#, "2026-11-05T07:30:00Z"), (#""2026-07-05 08:30:00""#, "2026-07-05T06:30:00Z"),
            (#""2026-03-29T03:00:00""#, "2026-03-29T01:00:00Z"),
            (#""Thu, 05 Nov 2026 08:30:00 GMT""#, "2026-11-05T08:30:00Z"), (#""Thu, 05 Nov 2026 08:30:00 +0000""#, "2026-11-05T08:30:00Z"),
            ("1760000000", "2025-10-09T08:53:20Z"), ("1760000000.0", "2025-10-09T08:53:20Z"), ("1760000000.5", "2025-10-09T08:53:20.500Z"),
            ("1760000000123", "2025-10-09T08:53:20.123Z"),
            (#""1760000000""#, "2025-10-09T08:53:20Z"), ("0", "1970-01-01T00:00:00Z"),
            (#"" 2026-11-05 ""#, "2026-11-05"), (#""20261105""#, "2026-11-05"), (#""2026/11/05""#, "2026-11-05"),
            ("20261105", "2026-11-05"),
            (#""20261105T083000Z""#, "2026-11-05T08:30:00Z"), (#""2026/11/05 08:30:00 +0000""#, "2026-11-05T08:30:00Z"),
            (#""2026-11-05T09:30:00+01:00[Europe/Berlin]""#, "2026-11-05T08:30:00Z"),
            (#""2026-11-05T07:30:00\u221201:00""#, "2026-11-05T08:30:00Z"),
            (#""Thu, 5 Nov 2026 08:30:00 GMT""#, "2026-11-05T08:30:00Z"), (#""5 Nov 2026 03:30 EST""#, "2026-11-05T08:30:00Z"),
            (#""Thu, 05 Nov 2026 10:30:00 +0200""#, "2026-11-05T08:30:00Z"), (#""Thu Nov 05 08:30:00 +0000 2026""#, "2026-11-05T08:30:00Z"),
            (#""November 5, 2026 9:30:00""#, "2026-11-05T08:30:00Z"), (#""Thu, 05 Nov 2026 08:30:00 UT""#, "2026-11-05T08:30:00Z"),
            (#""/Date(1760000000000)/""#, "2025-10-09T08:53:20Z"), (#""/Date(1760000000000+0200)/""#, "2025-10-09T08:53:20Z"),
            ("1760000000123456", "2025-10-09T08:53:20.123Z"), ("1760000000123456789", "2025-10-09T08:53:20.123Z"),
            ("20260501130000", "2026-05-01T11:00:00Z"), (#""20260501130000""#, "2026-05-01T11:00:00Z"),
            (#""202605011300""#, "2026-05-01T11:00:00Z"), ("202605011300", "2026-05-01T11:00:00Z"),
            ("4102444800", "2100-01-01T00:00:00Z"), ("4102444800000", "2100-01-01T00:00:00Z"),
            (#""Fri May  1 13:00:00 2026""#, "2026-05-01T11:00:00Z"), (#""Fri, 01 May 2026 13:00:00""#, "2026-05-01T11:00:00Z"),
            (#""Friday, 01-May-26 17:00:00 GMT""#, "2026-05-01T17:00:00Z"),
            (#""Fri, 01 May 2026 17:00:00 +0000 (UTC)""#, "2026-05-01T17:00:00Z"),
            (#""Fri (May Day), 1 May 2026 17:00 GMT (a comment)""#, "2026-05-01T17:00:00Z"),
            (#""Fri May 01 2026 19:00:00 GMT+0200 (Central European Summer Time)""#, "2026-05-01T17:00:00Z"),
            (#""Fri May 01 2026 17:00:00 GMT+0000 (Coordinated Universal Time)""#, "2026-05-01T17:00:00Z"),
            (#""1 May 2026""#, "2026-05-01"), (#""May 1, 2026""#, "2026-05-01"), (#""Fri, 1 May 2026""#, "2026-05-01"),
            (#""1 Sept 2026""#, "2026-09-01"),
            (#""2026-05-01 19:00:00 +0200 CEST""#, "2026-05-01T17:00:00Z"), (#""2026-05-01 10:00:00 -0700 PDT""#, "2026-05-01T17:00:00Z"),
            (#""2026-05-01 17:00:00.25 +0000 UTC""#, "2026-05-01T17:00:00.250Z"), (#""2026-05-01 10:00:00 PDT""#, "2026-05-01T17:00:00Z"),
            (#""Fri, 01 May 2026 19:00:00 MESZ""#, "2026-05-01T17:00:00Z"), (#""Fri, 1 May 26 17:00:00 GMT""#, "2026-05-01T17:00:00Z"),
            (#""May 1, 2026, 5:00:00\u202fPM UTC""#, "2026-05-01T17:00:00Z"), (#""May 1st, 2026 at 7:00 PM""#, "2026-05-01T17:00:00Z"),
            (#""Friday, May 1, 2026 7:00pm""#, "2026-05-01T17:00:00Z"),
            (#""2026-05-01 12:30 AM""#, "2026-04-30T22:30:00Z"), (#""2026-05-01 12:30 PM""#, "2026-05-01T10:30:00Z"),
            (#""01-May-2026 19:00:00""#, "2026-05-01T17:00:00Z"), (#""01-MAY-2026""#, "2026-05-01"), (#""2nd May 2026""#, "2026-05-02"),
            (#""2026-5-1""#, "2026-05-01"), (#""2026-5-1 9:00:00""#, "2026-05-01T07:00:00Z"),
            (#""2026-05-01, 19:00""#, "2026-05-01T17:00:00Z"),
            (#""2026-05-01T24:00:00Z""#, "2026-05-02T00:00:00Z"), (#""2026-12-31T24:00:00.000+00:00""#, "2027-01-01T00:00:00Z"),
            (#""2026-05-01 24:00""#, "2026-05-01T22:00:00Z"), (#""2026-03-28T24:00:00""#, "2026-03-28T23:00:00Z"),
            (#""Fri, 1 May 2026 24:00:00 +0000""#, "2026-05-02T00:00:00Z"),
            (#""2026-05-01T7:00:00Z""#, "2026-05-01T07:00:00Z"), (#""2026-05-01T7:00:00+02:00""#, "2026-05-01T05:00:00Z"),
            (#""2026-05-01T7:00:00.5-0100""#, "2026-05-01T08:00:00.500Z"), (#""2026-05-01T7:00""#, "2026-05-01T05:00:00Z"),
            (#""2026-5-1T9:00:00Z""#, "2026-05-01T09:00:00Z"), (#""2026-05-01T10:00:00 PST""#, "2026-05-01T18:00:00Z"),
            (#""2026-05-01T10:00:00 CEST""#, "2026-05-01T08:00:00Z"), (#""2026-05-01T10:00:00 +0200""#, "2026-05-01T08:00:00Z"),
            (#""2016-12-31T23:59:60Z""#, "2016-12-31T23:59:59Z"), (#""2026-121""#, "2026-05-01"), (#""2028-366""#, "2028-12-31"),
            (#""2026-W18-5""#, "2026-05-01"),
            (#""2026-W01-1""#, "2025-12-29"),
            (#""2026-W53-7""#, "2027-01-03"), (#""1969-W01-1""#, "1968-12-30"), (#""2021-W01-1""#, "2021-01-04"),
            ("32503680000", "3000-01-01T00:00:00Z"), ("32503680000000", "3000-01-01T00:00:00Z"),
            (#""3000-01-01T00:00:00Z""#, "3000-01-01T00:00:00Z"),
            ("4133980800", "2101-01-01T00:00:00Z"),
            (#""01.05.2026""#, "2026-05-01"), (#""1.5.2026""#, "2026-05-01"), (#""01.05.2026 19:00""#, "2026-05-01T17:00:00Z"),
            (#""1.5.2026, 19:00:00 UTC""#, "2026-05-01T19:00:00Z"),
            (#""Date(2026,4,1)""#, "2026-05-01"), (#""Date(2026,11,31)""#, "2026-12-31"),
            (#""Date(2026,4,1,9,5,0)""#, "2026-05-01T07:05:00Z"),
            (#""Date(2026,0,1,0,0,0,0)""#, "2025-12-31T23:00:00Z"),
        ])
    func dates(_ json: String, _ text: String) throws {
        let zone = try #require(SourceForm.TimeZoneName("Europe/Berlin"))
        #expect(try Self.mapped(.date(zone: zone), json) == "\"\(text)\"")
    }

    @Test(
        "Of two moments with one local time the first is meant, and a skipped time is read by the offset before the change",
        arguments: [
            ("Europe/Berlin", "2026-10-25T02:30:00", "2026-10-25T00:30:00Z"),
            ("Europe/Berlin", "2026-10-25T01:59:59", "2026-10-24T23:59:59Z"),
            ("Europe/Berlin", "2026-10-25T03:00:00", "2026-10-25T02:00:00Z"),
            ("Europe/Berlin", "2026-03-29T02:30:00", "2026-03-29T01:30:00Z"),
            ("Europe/Berlin", "2026-03-29T01:59:59", "2026-03-29T00:59:59Z"),
            ("Europe/Berlin", "2026-03-29T03:00:00", "2026-03-29T01:00:00Z"),
            ("America/New_York", "2026-11-01T01:30:00", "2026-11-01T05:30:00Z"),
            ("America/New_York", "2026-11-01T02:00:00", "2026-11-01T07:00:00Z"),
            ("America/New_York", "2026-03-08T02:30:00", "2026-03-08T07:30:00Z"),
            ("America/New_York", "2026-03-08T03:00:00", "2026-03-08T07:00:00Z"),
            ("Australia/Lord_Howe", "2026-04-05T01:45:00", "2026-04-04T14:45:00Z"),
            ("Australia/Sydney", "2026-10-04T02:30:00", "2026-10-03T16:30:00Z"),
        ])
    func clockChanges(_ name: String, _ local: String, _ text: String) throws {
        let zone = try #require(SourceForm.TimeZoneName(name))
        #expect(try Self.mapped(.date(zone: zone), "\"\(local)\"") == "\"\(text)\"")
    }

    @Test("A value for no date is absent, in expireAt also one for never, and in other fields it is invalid")
    func noDates() throws {
        let none = [
            #""0000-00-00 00:00:00""#, #""0000-00-00""#, #""0001-01-01T00:00:00""#, #""0001-01-01T00:00:00Z""#, #""0001-01-01""#,
            #""0000-12-31T23:00:00Z""#, #""00010101""#, "-62135596800", "-62135596800000", #""/Date(-62135596800000)/""#,
        ]
        let never = [
            #""9999-12-31T23:59:59""#, #""9999-12-31T23:59:59.9999999Z""#, #""9999-12-31 00:00:00""#, #""9999-12-31""#, #""99991231""#,
            "253402300799", "253402300799999", #""/Date(253402300799999)/""#, #""infinity""#, #""never""#,
        ]
        let origin = { FieldMapping.Origin(.first([JSONPointer(member: "v"), JSONPointer(member: "w")]), as: $0) }
        for (values, names) in [
            (none, ["day", "publishAt", "expireAt"]), (never, ["expireAt"]),
            (["0", #""0""#, "false", "null", #""""#, "[]"], ["publishAt", "expireAt"]),
        ] {
            for value in values {
                for name in names {
                    for form in [SourceForm.date(zone: nil), .date(zone: .init("UTC"))] + (name == "day" ? [] : [nil]) {
                        #expect(try Self.mapped(origin(form), #"{"v":\#(value)}"#, name) == nil, "\(name): \(value)")
                        let next = try Self.mapped(origin(form), #"{"v":\#(value),"w":"2026-05-01T17:00:00Z"}"#, name)
                        #expect(next == #""2026-05-01T17:00:00Z""#)
                    }
                }
            }
        }
        for value in never.prefix(4) {
            for name in ["day", "publishAt"] {
                #expect(try Self.mapped(origin(.date(zone: .init("UTC"))), #"{"v":\#(value)}"#, name)?.hasPrefix("must be a date") == true)
            }
        }
        #expect(try Self.mapped(origin(nil), #"{"v":"0000-00-00"}"#) == #""0000-00-00""#)
    }

    @Test(
        "A day in the schedule is its start in the zone of the mapping, and in expireAt its end",
        arguments: [
            ("Europe/Berlin", #""2026-05-01""#, "2026-04-30T22:00:00Z", "2026-05-01T22:00:00Z"),
            ("Europe/Berlin", #""01 May 2026""#, "2026-04-30T22:00:00Z", "2026-05-01T22:00:00Z"),
            ("Europe/Berlin", "20260501", "2026-04-30T22:00:00Z", "2026-05-01T22:00:00Z"),
            // Days of 23 and of 25 hours, and the last one of a month and of a year.
            ("Europe/Berlin", #""2026-03-29""#, "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"),
            ("Europe/Berlin", #""2026-10-25""#, "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"),
            ("Europe/Berlin", #""2026-12-31""#, "2026-12-30T23:00:00Z", "2026-12-31T23:00:00Z"),
            // A day without midnight.
            ("Africa/Cairo", #""2026-04-24""#, "2026-04-23T22:00:00Z", "2026-04-24T21:00:00Z"),
            ("+05:30", #""2028-02-29""#, "2028-02-28T18:30:00Z", "2028-02-29T18:30:00Z"),
            (nil, #""2026-05-01""#, "2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z"),
            ("Europe/Berlin", #""2026-05-01T10:00:00Z""#, "2026-05-01T10:00:00Z", "2026-05-01T10:00:00Z"),
        ] as [(String?, String, String, String)])
    func days(_ zone: String?, _ json: String, _ start: String, _ end: String) throws {
        let place = try FieldMapping.Origin.Place.first([#require(JSONPointer("/none")), JSONPointer(member: "v")])
        let date = FieldMapping.Origin(place, as: .date(zone: zone.flatMap { SourceForm.TimeZoneName($0) }))
        #expect(try Self.mapped(date, "{\"v\":\(json)}", "publishAt") == "\"\(start)\"")
        #expect(try Self.mapped(date, "{\"v\":\(json)}", "expireAt") == "\"\(end)\"")
        // Dates of a kind stay days.
        if zone == nil { #expect(try Self.mapped(date, "{\"v\":\(json)}", "day") == json) }
    }

    @Test("A list whose items are public on a day is read, also if an invalid item stops it")
    func scheduledDay() throws {
        let mapping = FieldMapping([
            ("username", .constant("a")), ("avatarUrl", .constant("https://e.example/")), ("type", .constant("regular")),
            ("publishAt", FieldMapping.Origin(.first([JSONPointer(member: "v")]), as: .date(zone: .init("Europe/Berlin")))),
            ("expireAt", FieldMapping.Origin(.first([JSONPointer(member: "v")]), as: .date(zone: .init("Europe/Berlin")))),
        ])
        let page = try RemotePage(
            Array(#"[{"v":"2026-05-01"},{"v":false}]"#.utf8), items: #require(JSONPointer("")), at: "https://e.example/")
        var bodies: [String] = []
        try page.forEachItem(of: UserKind(), mapping) { bodies.append(String(decoding: try #require($0).get().body, as: UTF8.self)) }
        #expect(bodies.map { $0.contains(#""publishAt":"2026-04-30T22:00:00Z","expireAt":"2026-05-01T22:00:00Z""#) } == [true, false])
    }

    @Test(
        "A value of another form is named with the rule and shortened",
        arguments: [
            (
                .date(zone: nil), #""2026-05-01T19:00:00""#,
                "must be a date, or a time with an offset (zone is for times without one), is \"2026-05-01T19:00:00\""
            ),
            (.date(zone: .init("UTC")), #""soon""#, "must be a date or a time, is \"soon\""),
            (.date(zone: .init("UTC")), "true", "must be a date or a time, is true"),
            (.number(), #""12,90""#, "must be a number such as 12.90 (decimal allows other forms), is \"12,90\""),
            (
                .number(decimal: ","), "\"1 2 \(String(repeating: "x", count: 99))\"",
                "must be one number with , before its fraction, is \"1 2 \(String(repeating: "x", count: 35))…"
            ),
            (.number(), "[1]", "must be a number such as 12.90 (decimal allows other forms), is [1]"),
        ] as [(SourceForm, String, String)])
    func reasons(_ form: SourceForm, _ json: String, _ reason: String) throws {
        #expect(try Self.mapped(form, json) == reason)
        let mapping = FieldMapping([
            ("username", .constant("a")), ("avatarUrl", .constant("https://e.example/")), ("type", .constant("regular")),
            ("expireAt", FieldMapping.Origin(.first([JSONPointer(member: "until")]), as: form)),
        ])
        let page = try RemotePage(Array("[{\"until\":\(json)}]".utf8), items: #require(JSONPointer("")))
        try page.forEachItem(of: UserKind(), mapping, leavingOut: { _ in }) { element in
            let error = #expect(throws: ItemError.self) { _ = try element?.get() }
            #expect(error?.description == "expireAt (from /until): \(reason)")
        }
    }

    @Test("A text of more than 200 bytes is no date, and white space around one does not count", arguments: [(160, true), (300, false)])
    func longDates(digits: Int, isRead: Bool) throws {
        let spaces = String(repeating: " ", count: 1_000)
        let json = "\"\(spaces)2026-05-01T08:30:00.\(String(repeating: "0", count: digits))Z\(spaces)\""
        #expect(try (Self.mapped(.date(zone: nil), json) == "\"2026-05-01T08:30:00Z\"") == isRead)
    }

    @Test("Other texts are invalid dates and numbers, and a date without offset needs a zone")
    func invalid() throws {
        for json in [
            #""soon""#, #""2026-13-01""#, #""2026-11-05T25:00:00Z""#, #""31.11.2026""#, #""05.11.26""#, #""11/05/2026""#, "true", "{}",
            #""2026-11-05T08:30:00""#,
            "1e300", #""2026-11/05""#, #""Nov 2026""#, #""5 Nov 2026 25:00:00 GMT""#, #""5 Nov 2026 08:30:00""#,
            #""5 Nox 2026 08:30:00 GMT""#,
            #""31 Nov 2026 08:30:00 GMT""#, #""/Date(x)/""#, "-86400", "-1", "1", "2026", "202605",
            "1e20", "100000000000000000000", "20260501130000", #""202605011300""#, "20261399", "202613011700",
            "20260501250000",
            #""9999-12-31T23:59:59Z""#, #""9999-12-31""#,
            #""19000101000000""#, #""31 Nov 2026""#, #""1 Maybe 2026""#, #""2026-05-01T24:00:01Z""#, #""2026-05-01T24:30:00Z""#,
            #""2026-05-01T25:00:00Z""#, #""2026-05-01T24:00:00.5Z""#,
            #""2026-05-01T7:00""#, #""2026-05-01T10:00:00 XYZ""#, #""2026-000""#, #""2026-366""#, #""2026-W54-1""#, #""2025-W53-1""#,
            #""2026-W00-1""#,
            #""2026-W18-8""#, #""2026-W18""#, #""Date(2026,12,1)""#,
            #""Date(2026,4)""#, #""Fry, 1 May 2026""#,
        ] {
            let value = try Self.mapped(.date(zone: nil), json)
            #expect(value?.hasPrefix("\"") != true, "\(json)")
        }
        for json in [#""12,90""#, #""€ 5""#, #""0x1F""#, #""nan""#, #""inf""#, "true", "{}", "[1]"] {
            #expect(try Self.mapped(.number(), json).flatMap { Double($0) } == nil, "\(json)")
        }
        #expect(throws: ItemError.self) {
            _ = try UserKind().validate(
                FieldMapping([("username", FieldMapping.Origin(.first([JSONPointer(member: "v")]), as: .number()))])
                    .fields(from: JSONObject(Array(#"{"v":"x"}"#.utf8))))
        }
    }

    @Test(
        "A value that occurs twice is left out, and costs the item only if the field is required",
        arguments: [
            (#"{"n":"a","a":"https://e.example/","b":"https://e.example/1","b":"https://e.example/2"}"#, "backgroundUrl", true),
            (#"{"n":"a","n":"b","a":"https://e.example/"}"#, "username", false),
            (#"{"n":"a","a":"https://e.example/","a":"https://e.example/"}"#, "avatarUrl", false),
        ])
    func twice(_ json: String, _ field: String, _ isKept: Bool) throws {
        let mapping = FieldMapping([
            ("username", .pointer(JSONPointer(member: "n"))), ("avatarUrl", .pointer(JSONPointer(member: "a"))),
            ("type", .constant("regular")),
            ("backgroundUrl", .pointer(JSONPointer(member: "b"))),
        ])
        let fields = try mapping.fields(from: JSONObject(Array(json.utf8)))
        var faults: [ItemError] = []
        do throws(ItemError) {
            _ = try UserKind().validate(fields, leavingOut: { faults.append($0) })
            #expect(isKept)
        } catch {
            #expect(!isKept)
            faults.append(error)
        }
        #expect(faults.map(\.description) == ["\(field): \(field == "username" ? "n" : field.prefix(1)) occurs twice"])
    }

    @Test("A zone is a name or an offset", arguments: [("+02:00", "17"), ("-05:30", nil), ("UTC", "19"), ("Asia/Tokyo", "10")])
    func zones(_ name: String, _ hour: String?) throws {
        let zone = try #require(SourceForm.TimeZoneName(name))
        let expected = hour.map { "\"2026-05-01T\($0):00:00Z\"" } ?? "\"2026-05-02T00:30:00Z\""
        #expect(try Self.mapped(.date(zone: zone), #""2026-05-01T19:00:00""#) == expected)
        for unknown in ["+15:00", "+02:07", "02:00", "Nowhere/Town"] { #expect(SourceForm.TimeZoneName(unknown) == nil) }
    }

    @Test(
        "Numbers as texts, and texts as numbers",
        arguments: [
            (#""12.90""#, "12.9"), (#"" 7 ""#, "7"), (#""+5""#, "5"), (#""-0.50""#, "-0.5"), (#""1e3""#, "1000.0"), (#""007""#, "7"),
            ("8046735700001", "8046735700001"),
            (#""9007199254740993""#, "9007199254740993"), ("1.5", "1.5"),
        ])
    func numbers(_ json: String, _ expected: String) throws {
        #expect(try Self.mapped(.number(), json) == expected)
        #expect(try Self.mapped(.text, "12.5") == "\"12.5\"" && Self.mapped(.text, "true") == "\"true\"")
        for absent in ["null", #""""#, "[]", "NaN"] { #expect(try Self.mapped(.number(), absent) == nil) }
    }

    @Test(
        "A declared mark of the fraction tells what the other marks are, and a number of another form is none",
        arguments: [
            ("12,90", "12.9", nil), ("1.234,56", "1234.56", nil), ("1.234", "1234", "1.234"), ("1,234", "1.234", "1234"),
            ("1,234.56", nil, "1234.56"),
            ("12.90", nil, "12.9"), ("1.23", nil, "1.23"), ("1.234.567", "1234567", nil), ("1.234.567,8", "1234567.8", nil),
            ("12,34,567.5", nil, "1234567.5"),
            ("1 234,5", "1234.5", nil), ("1\u{A0}234,5", "1234.5", nil), ("1\u{202F}234,5", "1234.5", nil), ("1'234.50", nil, "1234.5"),
            ("1’234,50", "1234.5", nil),
            ("12,90 €", "12.9", nil), ("€ 12,90", "12.9", nil), ("-€12,90", "-12.9", nil), ("€-12,90", "-12.9", nil),
            ("\u{2212}12,90", "-12.9", nil),
            ("$1,234.56", nil, "1234.56"), ("£0.99", nil, "0.99"), ("+7", "7", "7"), ("007", "7", "7"), (" 12 ", "12", "12"),
            ("12 34", nil, nil), ("1 234 56", nil, nil), ("1.234 567,8", nil, nil), ("1,2,3", nil, nil), ("1.2.3", nil, nil),
            ("12,", nil, nil), (",5", "0.5", nil),
            ("12,90 - 14,90", nil, nil), ("ab 12", "12", "12"), ("EUR 12", "12", "12"), ("12.90 EUR", nil, "12.9"),
            ("12,90 EUR", "12.9", nil),
            ("CHF 12.90", nil, "12.9"), ("CHF-12.90", nil, "-12.9"), ("- CHF 12.90", nil, "-12.9"), ("149 kr", "149", "149"),
            ("149kr.", "149", "149"), ("5,00 zł", "5", nil),
            ("R$ 1,234.56", nil, "1234.56"), ("Rs. 500.00", nil, "500"), ("Rs.500", "500", "500"), ("1.234,56 руб.", "1234.56", nil),
            ("US$.50", nil, "0.5"),
            ("-.50", nil, "-0.5"), ("2 x 12", nil, nil), ("EUR 12 (14 USD)", nil, nil), ("12k", nil, nil), ("1,5 Mio. €", nil, nil),
            ("A4B5", nil, nil), ("0x1F", nil, nil),
            ("EUR", nil, nil), ("12 %", nil, nil), (".", nil, nil), ("", nil, nil), ("€", nil, nil), ("--1", nil, nil),
            ("٣", nil, nil), ("1e3", nil, nil),
            ("1.234,56,78", nil, nil), ("1..234", nil, nil), (".234", nil, "0.234"), ("1234.567,8", nil, nil),
            ("0.123", nil, "0.123"), ("00.000.123", nil, nil), ("001.234", nil, "1.234"), ("1.23.456", nil, nil), ("01.02.202", nil, nil),
            ("1\\n234", nil, nil),
        ])
    func decimals(_ text: String, _ comma: String?, _ stop: String?) throws {
        let json = #""\#(text)""#
        for (mark, expected) in [(",", comma), (".", stop)] as [(Character, String?)] {
            let read = try Self.mapped(.number(decimal: mark), json)
            #expect(read.flatMap { Double($0) } == expected.flatMap { Double($0) }, "\(mark): \(read ?? "nothing")")
        }
        // Whole numbers keep all digits.
        #expect(try Self.mapped(.number(decimal: ","), #""9.007.199.254.740.993""#) == "9007199254740993")
        // A number of JSON has the form of JSON.
        #expect(try Self.mapped(.number(decimal: ","), "12.90").flatMap { Double($0) } == 12.9)
    }

    @Test("The first of several pointers with a value counts")
    func first() throws {
        let pointers = try ["/a/0/url", "/b", "/c"].map { try #require(JSONPointer($0)) }
        for (json, expected) in [
            (#"{"a":[{"url":"A"}],"b":"B"}"#, "\"A\""), (#"{"a":[],"b":"B"}"#, "\"B\""),
            (#"{"a":[{"code":"no"}],"b":"","c":"C"}"#, "\"C\""),
            (#"{"b":null,"c":7}"#, "7"), (#"{"b":NaN,"c":7}"#, "7"),
            (#"{"b":" ","c":"C"}"#, "\"C\""), (#"{"b":"\n\u00a0\u2003","c":"C"}"#, "\"C\""), ("{\"b\":\"\u{A0}\t\",\"c\":\"C\"}", "\"C\""),
            ("{}", nil), (#"{"b":{}}"#, "{}"),
        ] as [(String, String?)] {
            #expect(try Self.mapped(FieldMapping.Origin(.first(pointers)), json) == expected, "\(json)")
        }
        // A value that cannot be converted does not hide a later one that can.
        let date = FieldMapping.Origin(.first(Array(pointers.dropFirst())), as: .date(zone: nil))
        #expect(try Self.mapped(date, #"{"b":"soon","c":"2026-11-05"}"#) == "\"2026-11-05\"")
        let text = FieldMapping.Origin(.first(Array(pointers.dropFirst())), as: .text)
        for empty in ["<p></p>", " ", "&nbsp;", "<p>&#160;</p>", "<!-- x -->", "<script>x</script>"] {
            #expect(try Self.mapped(text, #"{"b":"\#(empty)","c":"<b>C</b>"}"#) == "\"C\"", "\(empty)")
        }
    }

    @Test("A list is joined")
    func joined() throws {
        var origin = FieldMapping.Origin(.first([JSONPointer(member: "v")]))
        origin.parts = .joined(each: nil, by: ", ")
        for (json, expected) in [
            (#"["a","b"]"#, "\"a, b\""), (#"["a",1,true,null,"",{"x":1}]"#, "\"a, 1, true\""), ("[]", nil), ("[{}]", nil),
            (#""a""#, "\"a\""), (#"{"0":"a","2":"c","x":"d"}"#, "\"a, c\""), (#"{"x":"d","0":"a"}"#, #"{"x":"d","0":"a"}"#),
            (#"["a"," ","b"]"#, "\"a, b\""),
        ] as [(String, String?)] {
            #expect(try Self.mapped(origin, "{\"v\":\(json)}") == expected, "\(json)")
        }
        origin.parts = .joined(each: JSONPointer("/name"), by: " / ")
        for json in [#"{"1":{"name":"A"},"3":{"name":"B"}}"#, #"{"1":{"name":"A"},"3":{"name":"B"},"x":{"name":"C"}}"#] {
            #expect(try Self.mapped(origin, "{\"v\":\(json)}") == "\"A / B\"", "\(json)")
        }
        origin.form = .text
        #expect(try Self.mapped(origin, #"{"v":[{"name":"A &amp; B"},{"no":1},{"name":"C"}]}"#) == "\"A & B / C\"")
    }

    @Test("A list of objects becomes a list of texts, and a text is split")
    func lists() throws {
        var origin = FieldMapping.Origin(.first([JSONPointer(member: "v"), JSONPointer(member: "w")]))
        origin.parts = try .list(each: #require(JSONPointer("/name")))
        for (json, expected) in [
            (#""v":[{"name":"A \"b\""},{"id":2},{"name":""},{"name":7}]"#, #"["A \"b\"","7"]"#),
            (#""v":["a","b"]"#, nil), (#""v":[]"#, nil),
            (#""v":{"1":{"name":"a"},"3":{"name":"c"}}"#, #"["a","c"]"#), (#""v":{"name":"a"}"#, #"["a"]"#),
            (#""v":{"id":1}"#, #"{"id":1}"#),
            (#""v":[{"id":1}],"w":[{"name":"later"}]"#, #"["later"]"#), (#""v":"a""#, "\"a\""),
        ] as [(String, String?)] {
            #expect(try Self.mapped(origin, "{\(json)}") == expected, "\(json)")
        }
        origin.parts = .split(by: ",")
        for (json, expected) in [
            (#""v":"red, winter sale ,,\u00fc""#, #"["red","winter sale","ü"]"#), (#""v":"one""#, #"["one"]"#),
            (#""v":",  ,""#, nil), (#""v":"""#, nil), (#""v":["red","winter"]"#, #"["red","winter"]"#),
            (#""v":" , ","w":"later""#, #"["later"]"#),
        ] as [(String, String?)] {
            #expect(try Self.mapped(origin, "{\(json)}") == expected, "\(json)")
        }
        origin.form = .text
        #expect(try Self.mapped(origin, #"{"v":"A &amp; B,<b>C</b>"}"#) == #"["A & B","C"]"#)
    }

    @Test(
        "A template inserts values, and keeps the parts of a path",
        arguments: [
            ("https://shop.example/products/{{handle}}", "https://shop.example/products/mug-1"),
            ("https://shop.example/{{/path}}", "https://shop.example/r/pics/1/"),
            ("https://shop.example/x?u={{/path}}&n={{ n }}", "https://shop.example/x?u=%2Fr%2Fpics%2F1%2F&n=7"),
            ("https://shop.example/{{odd}}", "https://shop.example/a%20%C3%BC%3F%23"),
            ("by {{handle}} & {{n}}", "by mug-1 & 7"), ("https://shop.example/{{none}}", nil),
            ("https://shop.example/{{evil}}", "https://shop.example/.evil.example"),
            ("//shop.example/{{handle}}", "//shop.example/mug-1"),
            ("HTTPS://shop.example/{{odd}}", "HTTPS://shop.example/a%20%C3%BC%3F%23"),
            ("https://shop.example/{{share}}?d={{share}}", "https://shop.example/100%25-cotton?d=100%25-cotton"),
            ("https://shop.example/u/{{up}}", "https://shop.example/u/admin/x"),
            ("https://shop.example/{{encoded}}", "https://shop.example/%252e%252e/a"),
            ("/{{path}}", "/r/pics/1/"), ("/{{host}}", "/evil.example/x"), ("/u/{{odd}}", "/u/a ü?#"),
        ])
    func templates(_ text: String, _ expected: String?) throws {
        let object =
            #"{"share":"100%-cotton","up":"../../admin/./x","encoded":"%2e%2e/a","handle":"mug-1","path":"/r/pics/1/","n":7,"odd":"a ü?#","none":null,"evil":".evil.example","host":"//evil.example/x"}"#
        #expect(try Self.mapped(FieldMapping.Origin(.template(#require(SourceTemplate(text)))), object) == expected.map { "\"\($0)\"" })
    }

    @Test(
        "A template whose values could set the host, or that is malformed, is refused",
        arguments: [
            "https://{{host}}/", "https://shop.example{{path}}", "https://{{a}}", "{{a", "no value", "{{}}", "{{/a~2}}",
            "//{{host}}/x", "///{{host}}", #"\\{{host}}/x"#, #"/\{{host}}"#, "https:///{{host}}/x", "HTTPS://{{host}}/x",
            " https://{{host}}/x",
            "https:{{host}}", "http:/{{host}}/x", "https://a@{{host}}/", "https://shop.example:{{port}}/", "//shop.example{{path}}",
        ])
    func refused(_ text: String) {
        #expect(SourceTemplate(text) == nil)
    }

    @Test("Conditions leave out what is no item")
    func conditions() throws {
        let object = try JSONObject(
            Array(
                #"{"price":1.0,"big":9007199254740993,"code":"007","status":"active","n":7,"flag":false,"tags":["story","front"],"gaps":{"0":"a","2":"c"},"blank":" \n","none":null,"empty":"","deep":{"x":[]}}"#
                    .utf8))
        func isSatisfied(_ pointer: String, _ test: SourceCondition.Test) throws -> Bool {
            try SourceCondition(#require(JSONPointer(pointer)), test).isSatisfied(by: object)
        }
        for (pointer, test, expected) in [
            ("/status", .anyOf(["active"]), true), ("/status", .anyOf(["a", "b"]), false), ("/status", .noneOf(["archived"]), true),
            ("/n", .anyOf(["7"]), true), ("/n", .anyOf(["7.0"]), true), ("/n", .anyOf(["70e-1"]), true),
            ("/n", .anyOf(["7.5", "x"]), false),
            ("/n", .noneOf(["7.0"]), false), ("/price", .anyOf(["1"]), true), ("/price", .noneOf(["1.00"]), false),
            ("/big", .anyOf(["9007199254740992"]), false), ("/big", .anyOf(["9007199254740993"]), true), ("/code", .anyOf(["7"]), false),
            ("/flag", .anyOf(["0"]), false),
            ("/flag", .anyOf(["false"]), true), ("/tags", .anyOf(["story"]), true), ("/gaps", .anyOf(["c"]), true),
            ("/gaps", .noneOf(["c"]), false),
            ("/blank", .present(false), true), ("/tags", .noneOf(["comment"]), true),
            ("/tags", .noneOf(["front"]), false),
            ("/none", .present(false), true), ("/none", .present(true), false), ("/empty", .present(false), true),
            ("/deep/x", .present(true), false),
            ("/missing", .noneOf(["x"]), true), ("/missing", .anyOf(["x"]), false), ("/status", .present(true), true),
        ] as [(String, SourceCondition.Test, Bool)] {
            #expect(try isSatisfied(pointer, test) == expected, "\(pointer) \(test)")
        }
    }

    @Test("Controls around a URL are left out, NUL too")
    func controls() throws {
        for text in [#"\u0000https://e.example/a"#, #"https://e.example/a\u0000"#, #" \u0001\u0000https://e.example/a\u0000\n"#] {
            let fields = try ItemFields(Array(#"{"v":"\#(text)"}"#.utf8))
            #expect(try fields.optionalURL("v").map { String(decoding: $0, as: UTF8.self) } == "https://e.example/a")
            #expect(try fields.optionalText("v", limit: 100)?.contains(0) == false)
        }
        #expect(try ItemFields(Array(#"{"v":"\u0000"}"#.utf8)).optionalURL("v") == nil)
    }

    @Test("URLs of items are relative to their page")
    func relative() throws {
        let text = #"[{"username":"a","avatarUrl":"../a b.png","type":"regular","backgroundUrl":"//cdn.example/ü.jpg"}]"#
        let page = try RemotePage(Array(text.utf8), items: #require(JSONPointer("")), at: "https://api.example.com/v1/users")
        try page.forEachItem(of: UserKind(), nil) { element in
            let body = String(decoding: try #require(element).get().body, as: UTF8.self)
            #expect(
                body.contains(#""https://api.example.com/v1/../a%20b.png""#) && body.contains(#""https://cdn.example/%C3%BC.jpg""#),
                "\(body)")
        }
    }
}
