import Foundation
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwineService

@Suite("Kinds in a file")
struct KindsFileTests {
    static let event = """
        kinds:
          event:
            fields:
              title: {type: text, required: true, max: 80}
              starts: date
              image: image
              signup: {type: url, required: true}
              price: {type: number, min: 0}
              open: boolean
            types: [party, talk]
            destination: signup
            cells:
              collection:
                - identifier: PartyCell
                  size: 300x160
                  when: {type: party, price: {max: 10}, starts: {present: true}}
                  bind: {title: {text: "{{title}}!"}}
                - identifier: EventCell
                  size: {fraction: 0.5, aspect: 2, min: 100, max: 400}
                  bind:
                    title: {text: title}
                    more: {link: "https://example.com/{{id}}"}
            actions:
              selection: [analytics, clickthrough]
        """

    static func file(_ text: String) throws -> KindsFile {
        try KindsFile(YAMLFile.root(of: text, from: "kinds.yaml"), policy: .compensate, besides: .standard)
    }

    static func fault(_ text: String) -> String? {
        do {
            let file = try file(text)
            var factories = try CellFactories.standard()
            try file.register(in: &factories, commands: .standard, hasViewers: true)
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test("A decorative image has an empty alternative text; a missing text is an error")
    func decorative() throws {
        func file(_ alt: String) -> String { Self.event.replacing("title: {text: title}", with: "image: {image: image, alt: \(alt)}") }
        for alt in ["\"\"", "''"] { #expect(Self.fault(file(alt)) == nil, "\(alt)") }
        for alt in ["", "~"] { #expect(Self.fault(file(alt))?.contains("a value is missing") == true, "\(alt)") }
    }

    @Test("The kinds in the ads lane are the kinds of a report by ad")
    func advertisementPrefixes() throws {
        let ad = Self.event.replacing("  event:\n", with: "  promotion:\n    lane: advertisements\n    prefix: promo\n")
        #expect(try Self.file(ad).advertisementPrefixes == ["ad", "promo"])
        #expect(try Self.file(Self.event).advertisementPrefixes == ["ad"])
    }

    @Test(
        "Texts by language and labels are validated against the declared languages and actions",
        arguments: [
            ("", "title: {en: A}", "kinds.yaml:2:19: a text by language requires declared languages"),
            ("languages: [en, de]", "title: {fr: A}", "unknown language 'fr'"),
            ("languages: [en, EN]", "title: A", "kinds.yaml:1:17: the language 'EN' occurs twice"),
            ("languages: [e]", "title: A", "'e' is not allowed"), ("languages: []", "title: A", "there are 1 to 32 languages"),
            ("languages: [en]\nlabels: {impression: Seen}", "title: A", "'impression' is not an action of people"),
            ("languages: [en]\nlabels: {like: {de: A}}", "title: A", "unknown language 'de'"),
        ])
    func languages(head: String, title: String, words: String) throws {
        #expect(
            Self.fault("\(head)\nsections: {main: {\(title)}}")?.contains(words) == true,
            "\(Self.fault("\(head)\nsections: {main: {\(title)}}") ?? "")")
        #expect(Self.fault("languages: [en, de]\nsections: {main: {title: {DE: A}}}") == nil)
    }

    @Test("A kind in a file equals the same declaration in Swift")
    func reads() throws {
        let kind = try #require(try Self.file(Self.event).kinds.first)
        #expect(
            kind.declaration
                == KindDeclaration(
                    name: "event", variants: ["party", "talk"],
                    fields: [
                        FieldDeclaration("title", .text, isRequired: true, maximum: 80), FieldDeclaration("starts", .date),
                        FieldDeclaration("image", .image), FieldDeclaration("signup", .url, isRequired: true),
                        FieldDeclaration("price", .number, minimum: 0), FieldDeclaration("open", .boolean),
                    ],
                    cells: [
                        .collection: [
                            CellDeclaration(
                                "PartyCell", size: SizeRule(CellSize(width: 300, height: 160)),
                                conditions: [
                                    FieldCondition("type", .anyOf(["party"])), FieldCondition("price", .between(minimum: nil, maximum: 10)),
                                    FieldCondition("starts", .present(true)),
                                ], bindings: [BindingDeclaration("title", .text, "{{title}}!")]),
                            CellDeclaration(
                                "EventCell",
                                size: SizeRule(
                                    CellSize(width: 160, height: 80), fraction: 0.5, aspectRatio: 2, minimum: 100, maximum: 400),
                                bindings: [
                                    BindingDeclaration("title", .text, "title"),
                                    BindingDeclaration("more", .link, "https://example.com/{{id}}"),
                                ]),
                        ]
                    ], destination: "signup", actions: [.selection: SlotCommands(["analytics", "clickthrough"], policy: .compensate)]))
    }

    @Test("A size has an aspect beside its width or its height", arguments: ["{width: 300, aspect: 1.2}", "{height: 250, aspect: 1.2}"])
    func aspect(size: String) throws {
        let kind = try #require(try Self.file(Self.event.replacing("300x160", with: size)).kinds.first)
        #expect(kind.declaration.cells[.collection]?.first?.size == SizeRule(CellSize(width: 300, height: 250)))
    }

    @Test("The schema of an image names the fields of its point")
    func focus() throws {
        let text = Self.event.replacing("title: {text: title}\n", with: "image: {image: image, size: cell, focus: [price, price]}\n")
        let kind = try #require(try Self.file(text).kinds.first)
        #expect(String(decoding: kind.schema(), as: UTF8.self).contains(#""x-focus":["price","price"]"#))
    }

    struct Fault: Sendable, CustomTestStringConvertible {
        var old: String
        var new: String
        var line: Int
        var words: String
        var testDescription: String { "\(new): \(words)" }

        init(_ old: String, _ new: String, _ line: Int, _ words: String) {
            (self.old, self.new, self.line, self.words) = (old, new, line, words)
        }
    }

    @Test(
        "A fault prevents the start with file, line, reason and allowed values",
        arguments: [
            Fault("types:", "tpyes:", 10, "unknown key 'tpyes' in kind 'event'; allowed: prefix, lane, id, types"),
            Fault("kinds:", "kind:", 1, "unknown key 'kind'"), Fault("  event:", "  user:", 2, "the kind 'user' already exists"),
            Fault("  event:", "  2nd:", 2, "must be a letter"), Fault("starts: date", "starts: dates", 5, "allowed: text, number, date"),
            Fault("starts: date", "starts: [date]", 5, "single value"), Fault("starts: date", "starts:", 5, "value is missing"),
            Fault("starts: date", "starts: {required: true}", 5, "type is missing"),
            Fault("starts: date", "type: text", 5, "'type' is reserved"),
            Fault("starts: date", "starts: {type: date, max: 3}", 5, "min and max are for text and number"),
            Fault("max: 80", "max: many", 4, "a number"),
            Fault("max: 80", "max: -1", 4, "max 1 to"), Fault("required: true, max", "required: y, max", 4, "true, false"),
            Fault("starts: date", "starts: {type: date, unit: h}", 5, "decimals, factor and unit are for number"),
            Fault("{type: number, min: 0}", "{type: number, decimals: 7}", 8, "a whole number from 0 to 6"),
            Fault("starts: date", "title: date", 5, "occurs twice"), Fault("[party, talk]", "{party: 1}", 10, "single value"),
            Fault("[party, talk]", "[party, party]", 10, "twice"),
            Fault("destination: signup", "destination: title", 11, "allowed: signup"),
            Fault("collection:", "grid:", 13, "allowed: collection, table"),
            Fault("- identifier: PartyCell", "- ident: PartyCell", 14, "allowed: identifier"),
            Fault("identifier: PartyCell\n          size: 300x160", "size: 300x160", 14, "identifier is missing"),
            Fault("300x160", "300", 15, "such as 300x200"),
            Fault("300x160", "{width: 3}", 15, "height is missing"),
            Fault("300x160", "{width: 3, height: 3, min: 2}", 15, "without fraction"),
            Fault("300x160", "{width: 3, height: 3, aspect: 2}", 15, "beside one of the two"),
            Fault("300x160", "{width: 3, aspect: 0}", 15, "more than 0"), Fault("300x160", "{aspect: 2}", 15, "one and aspect"),
            Fault("300x160", "{fraction: 1}", 15, "aspect is missing"), Fault("300x160", "0x160", 15, "points"),
            Fault("300x160", "{fraction: 7, height: 3}", 15, "fraction must be"),
            Fault("300x160", "{width: 3, height: 30, text-height: 31}", 15, "text-height must be 0 to the height, which is 30 points"),
            Fault("300x160", "{width: 3, height: 30, text-height: many}", 15, "a number"),
            Fault("type: party", "type: partly", 16, "allowed: party, talk"),
            Fault("type: party", "kind: party", 16, "unknown field 'kind'"),
            Fault("{max: 10}", "{most: 10}", 16, "allowed: present, min, max"),
            Fault("{{title}}!", "{{title}!", 17, "not closed"), Fault("{{title}}!", "{{tilte}}!", 17, "unknown field 'tilte'"),
            Fault("{{title}}!", "{{>title}}", 17, "not a field"), Fault("text: title", "txt: title", 21, "allowed: text, image, date"),
            Fault("text: title", "text: tilte", 21, "unknown field 'tilte'; allowed: id, type, title"),
            Fault("text: title", "image: title", 21, "allowed: image"), Fault("{text: title}", "title", 21, "mapping is expected"),
            Fault("{text: title}", "{text: title, date: starts}", 21, "needs exactly one binding"),
            Fault("{text: title}", "{text: title, size: cell}", 21, "are for images only"),
            Fault("{text: title}", "{image: image, fit: fill}", 21, "without a size"),
            Fault("{text: title}", "{image: image, size: 2xx}", 21, "allowed: cell, 150x100"),
            Fault("{text: title}", "{image: image, size: 0x3}", 21, "1 to 10000 points"),
            Fault("{text: title}", "{image: image, size: 101%x3}", 21, "1% to 100%"),
            Fault("{text: title}", "{image: image, size: cell, fit: fil}", 21, "allowed: fill, fit"),
            Fault("{text: title}", "{image: image, size: cell, fit: fit, focus: centre}", 21, "no focus"),
            Fault("{text: title}", "{image: image, size: cell, focus: face}", 21, "two number fields"),
            Fault("{text: title}", "{image: image, size: cell, focus: [title, title]}", 21, "number is expected"),
            Fault("https://example.com/{{id}}", "{{signup}}", 22, "must begin with http"),
            Fault("[analytics, clickthrough]", "[analytics, clickthru]", 24, "unknown command 'clickthru'"),
            Fault("[analytics, clickthrough]", "[present]", 24, "needs a presentation"),
            Fault("selection:", "configuration:", 24, "unknown key"),
            Fault("[analytics, clickthrough]", "[analytics, clickthrough", 25, "expected"), Fault("kinds:", "\tkinds:", 1, "tab"),
            Fault("  event:", "\tevent:", 2, "tab"), Fault("kinds:", "a: 1\n---\nkinds:", 2, "single document"),
        ])
    func faults(fault: Fault) throws {
        let range = try #require(Self.event.firstRange(of: fault.old))
        let refusal = try #require(Self.fault(Self.event.replacingCharacters(in: range, with: fault.new)))
        #expect(refusal.hasPrefix("kinds.yaml:\(fault.line):"), "\(refusal)")
        #expect(refusal.contains(fault.words) && !refusal.contains("\n"), "\(refusal)")
    }

    @Test("A Boolean is a word of YAML, in any case", arguments: ["True", "yes", "on", "False", "NO"])
    func booleans(word: String) {
        #expect(Self.fault(Self.event.replacing("required: true, max", with: "required: \(word), max")) == nil)
    }

    @Test("A byte order mark is accepted and does not change line numbers")
    func mark() throws {
        // A second top-level key: the mark must not change the indentation of the first key.
        #expect(Self.fault("\u{FEFF}" + Self.event + "\nfeeds: {main: [main]}") == nil)
        #expect(Self.fault("\u{FEFF}" + Self.event.replacing("types:", with: "tpyes:"))?.hasPrefix("kinds.yaml:10:5: ") == true)
    }

    @Test("A duplicate kind is reported at its second line")
    func duplicates() {
        let second = Self.event.split(separator: "\n").dropFirst().joined(separator: "\n")
        let refusal = Self.fault(Self.event + "\n" + second)
        #expect(refusal?.hasPrefix("kinds.yaml:25:3: 'event' occurs twice") == true, "\(refusal ?? "")")
    }

    @Test(
        "An empty, binary or malformed file is refused with its name",
        arguments: ["", "# nothing\n", "\u{0}", "- 1\n", "kinds:\n", "a: b: c\n", "--- 1\n--- 2\n"])
    func notKinds(text: String) {
        #expect(Self.fault(text)?.hasPrefix("kinds.yaml:") == true)
    }

    @Test("A missing, oversized or non-UTF-8 file is refused")
    func unreadable() throws {
        #expect(throws: ConfigurationError.self) { try YAMLFile.root(at: "/nonexistent/kinds.yaml") }
        for bytes in [Data([0xFF, 0xFE, 0xC0]), Data(repeating: 0x20, count: TextFile.limit + 1)] {
            let path = FileManager.default.temporaryDirectory.appendingPathComponent("kinds-\(UUID()).yaml")
            try bytes.write(to: path)
            defer { try? FileManager.default.removeItem(at: path) }
            #expect(throws: ConfigurationError.self) { try YAMLFile.root(at: path.path) }
        }
    }

    @Test("The reader does not trap on any mutated text", arguments: 0..<4)
    func fuzz(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        let pieces = [
            "{", "}", "[", "]", ":", "- ", "\n", "  ", "&a ", "*a", "!!int ", "|", ">", "\"", "'", "{{", "}}", "x", "0", "-1", "1e999", "~",
            "<<: *a", "? ", "\t", "\u{0}", "é",
        ]
        let lines = Self.event.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        for _ in 0..<400 {
            var text = Array(Self.event)
            switch Int.random(in: 0..<3, using: &random) {
            case 0:
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    let piece = Array(pieces.randomElement(using: &random) ?? "")
                    text.insert(contentsOf: piece, at: Int.random(in: 0...text.count, using: &random))
                }
            case 1:
                let start = Int.random(in: 0..<text.count, using: &random)
                text.removeSubrange(start..<min(text.count, start + Int.random(in: 1...30, using: &random)))
            default:
                var shuffled = lines
                shuffled.swapAt(Int.random(in: 0..<lines.count, using: &random), Int.random(in: 0..<lines.count, using: &random))
                text = Array(shuffled.joined(separator: "\n"))
            }
            if let fault = Self.fault(String(text)) { #expect(fault.hasPrefix("kinds.yaml:"), "\(fault)") }
        }
        for depth in [10, 1_000, 100_000] {
            for bracket in ["[", "{a: ", "- ", "? "] {
                #expect(Self.fault("kinds: " + String(repeating: bracket, count: depth))?.hasPrefix("kinds.yaml:") == true)
            }
        }
    }
}
