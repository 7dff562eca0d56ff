import Testing

@testable import IntertwineFeed
@testable import IntertwineService

@Suite("Sections and feeds in the configuration")
struct FeedsReaderTests {
    static let text = """
        kinds:
          event:
            fields: {title: {type: text, required: true}, starts: {type: date, required: true}, price: number, go: {type: url, required: true}}
            cells: {collection: {identifier: EventCell, size: 300x160, bind: {title: {text: title}}}}
        sections:
          events: {title: Soon, kinds: [event], order: field starts descending, ads: 2}
          main:
            order: newest
            title: People
        feeds:
          main: [events, main]
          agenda: [events]
        """

    private static func feeds(_ text: String) throws -> DeclaredFeeds {
        try KindsFile(YAMLFile.root(of: text, from: "kinds.yaml"), policy: .stop, besides: .standard).feeds
    }

    @Test("A declaration gives the sections of each feed and the order of each section")
    func reads() throws {
        let feeds = try Self.feeds(Self.text)
        let starts = try #require(SortField("starts", .date))
        let soon = SectionSort(by: starts, isDescending: true)
        #expect(
            feeds.plans == [
                SectionConfiguration("events", kinds: ["event"], fields: [starts], order: soon),
                SectionConfiguration("main", order: .newest),
            ])
        #expect(feeds.feeds == ["main": ["events", "main"], "agenda": ["events"]])
        let sources = feeds.sources(streams: ["events": StreamID(rawValue: 2), "main": .content], settings: FeedSettings())
        let main = try #require(sources["main"] as? SectionedDataSource).sections
        #expect(main.map(\.name) == ["events", "main"] && main.map { $0.title?[nil] } == ["Soon", "People"])
        #expect(main.map(\.stream?.rawValue) == [2, 0])
        #expect(main.map(\.order) == [soon, .newest])
        #expect(main.map(\.placement?.supply) == [.rotating(perPage: 2), nil])
        #expect(sources.keys.sorted() == ["agenda", "main"])
    }

    @Test("Ad settings of a feed apply to sections without ad settings, not to other feeds")
    func adsOfFeeds() throws {
        let feeds = try Self.feeds(
            Self.text.replacing("agenda: [events]", with: "agenda: {sections: [main], placement: at 2, scope: feed, ads: 3}"))
        let settings = FeedSettings()
        let own = settings.with(feeds.ads["agenda"])
        #expect(own.adPlacement == .at([2]) && own.adScope == .feed && own.adsPerPage == 3)
        #expect(settings.with(feeds.ads["main"]).placement.supply == settings.placement.supply)
    }

    @Test("Without declared sections, only the main feed exists, as a flat source")
    func none() throws {
        let feeds = DeclaredFeeds()
        #expect(feeds.plans.isEmpty)
        let sources = feeds.sources(streams: ["main": .content], settings: FeedSettings())
        #expect(sources.count == 1 && sources["main"] is FlatDataSource && sources["main"]?.sections.count == 1)
    }

    struct Fault: Sendable, CustomTestStringConvertible {
        var old: String
        var new: String
        var line: Int
        var words: String
        var testDescription: String { new }

        init(_ old: String, _ new: String, _ line: Int, _ words: String) {
            (self.old, self.new, self.line, self.words) = (old, new, line, words)
        }
    }

    @Test(
        "A fault in a section or feed is reported with line and allowed values",
        arguments: [
            Fault("kinds: [event]", "kinds: [evnt]", 6, "unknown kind 'evnt'; allowed: event, user"),
            Fault("kinds: [event]", "kinds: [ad]", 6, "'ad' is a kind of ads"),
            Fault("kinds: [event]", "kinds: [event, event]", 6, "the kind 'event' occurs twice"),
            Fault("kinds: [event]", "kinds: []", 6, "a section needs at least one kind"),
            Fault(", kinds: [event]", "", 6, "kinds is missing"),
            Fault("field starts descending", "field begins", 6, "unknown field 'begins' to order 'events' by"),
            Fault("field starts descending", "field price", 6, "allowed: starts, title"),
            Fault("field starts descending", "field go", 6, "allowed: starts, title"),
            Fault(
                "field starts descending", "field starts ascending", 6, "'field starts ascending' is not allowed; allowed: imported, newest"
            ),
            Fault(
                "order: newest", "order: field title", 8,
                "to order 'main' by: a required text, number or date of all its kinds; allowed: username"),
            Fault("order: newest", "order: latest", 8, "'latest' is not allowed; allowed: imported, newest, field NAME"),
            Fault("ads: 2", "ads: 21", 6, "'21' is not allowed; allowed: a whole number from 0 to 20"),
            Fault("title: Soon", "tilte: Soon", 6, "unknown key 'tilte' in section 'events'; allowed: title, kinds, order, ads"),
            Fault("    title: People", "    kinds: [user]", 9, "holds every kind that no other section holds"),
            Fault("  events: {", "  1events: {", 6, "is not a valid section name"),
            Fault("  agenda: [events]", "  agenda/x: [events]", 12, "is not a valid feed name"),
            Fault("  agenda: [events]", "  agenda: [evnts]", 12, "unknown section 'evnts'; allowed: events, main"),
            Fault("  agenda: [events]", "  agenda: [events, events]", 12, "the section 'events' occurs twice in the feed"),
            Fault("  agenda: [events]", "  agenda: []", 12, "a feed has 1 to 1000 sections"),
            Fault("  agenda: [events]", "  agenda: events", 12, "a list is expected: a list of sections: events, main"),
            Fault("feeds:", "feds:", 10, "unknown key 'feds' in the file; allowed: languages, labels, alt, kinds, sections, feeds"),
            Fault(
                "  main:\n    order", "  more: {kinds: [user, event]}\n  main:\n    order", 7,
                "the section 'events' already holds the kind 'event'"),
        ])
    func faults(_ fault: Fault) {
        let text = Self.text.replacing(fault.old, with: fault.new, maxReplacements: 1)
        #expect(text != Self.text)
        let refusal = #expect(throws: ConfigurationError.self) { try Self.feeds(text) }.map { "\($0)" } ?? ""
        #expect(refusal.hasPrefix("kinds.yaml:\(fault.line):"), "\(refusal)")
        #expect(refusal.contains(fault.words), "\(refusal)")
    }
}
