internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineRouting

/// The feeds that are served, by name, and each section of theirs alone.
struct FeedCatalogue: Sendable {
    /// What `/feed` serves.
    let main: FeedAssembler
    private let feeds: [String: FeedAssembler]
    private let sections: [String: [String: FeedAssembler]]

    /// - Parameter assembler: makes an assembler of a name for cursors, a path and what it shows.
    init(_ sources: [String: any DataSource], assembler: (_ name: String, _ path: String, any DataSource) -> FeedAssembler) {
        main = assembler("feed", "/feed", sources[DeclaredFeeds.mainName] ?? FlatDataSource())
        var feeds: [String: FeedAssembler] = [:]
        var sections: [String: [String: FeedAssembler]] = [:]
        for (name, source) in sources {
            // The same feed at both of its paths: cursors hold for either.
            let id = name == DeclaredFeeds.mainName ? "feed" : "feeds/\(name)"
            feeds[name] = assembler(id, "/feeds/\(name)", source)
            for section in (source as? SectionedDataSource)?.sections ?? [] {
                sections[name, default: [:]][section.name] = assembler(
                    "\(id)/sections/\(section.name)", "/feeds/\(name)/sections/\(section.name)", SectionedDataSource([section]))
            }
        }
        self.feeds = feeds
        self.sections = sections
    }

    /// - Throws: ``Problem`` (404) where there is no such feed.
    func feed(_ name: String) throws(Problem) -> FeedAssembler {
        guard let feed = feeds[name] else { throw Problem(.notFound, .unknownFeed, "There is no such feed.") }
        return feed
    }

    /// The feed or section that gave a cursor out.
    ///
    /// - Throws: `FeedError` where none did.
    func feed(of cursor: String) throws(FeedError) -> FeedAssembler {
        for assembler in [main] + feeds.values + sections.values.flatMap(\.values) {
            do { try assembler.validate(cursor: cursor) } catch {
                if error == .cursor(.otherFeed) { continue }
                throw error
            }
            return assembler
        }
        throw FeedError.cursor(.otherFeed)
    }

    /// - Throws: ``Problem`` (404) where there is no such feed, or no such section in it.
    func section(_ section: String, of feed: String) throws(Problem) -> FeedAssembler {
        _ = try self.feed(feed)
        guard let found = sections[feed]?[section] else {
            throw Problem(.notFound, .unknownSection, "There is no such section in this feed.")
        }
        return found
    }
}
