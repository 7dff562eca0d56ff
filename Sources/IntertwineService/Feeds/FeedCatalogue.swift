internal import Foundation
internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwinePrimitives

struct FeedCatalogue: Sendable {
    let main: FeedAssembler
    private let feeds: [String: FeedAssembler]
    private let sections: [String: [String: FeedAssembler]]

    init(
        _ sources: [String: any DataSource],
        rankings: [String: FeedRanking] = [:],
        assembler: (_ name: String, _ feed: String, _ path: String, any DataSource, FeedRanking?) -> FeedAssembler
    ) {
        let mainName = DeclaredFeeds.mainName
        main = assembler("feed", mainName, "/feed", sources[mainName] ?? FlatDataSource(), rankings[mainName])
        var feeds: [String: FeedAssembler] = [:]
        var sections: [String: [String: FeedAssembler]] = [:]
        for (name, source) in sources {
            // The main feed has one identifier at both of its paths, so that its cursors are valid at either.
            let id = name == DeclaredFeeds.mainName ? "feed" : "feeds/\(name)"
            feeds[name] = assembler(id, name, "/feeds/\(name)", source, rankings[name])
            let sectioned = source as? SectionedDataSource
            for section in sectioned?.sections ?? [] {
                guard let title = section.name else { continue }
                sections[name, default: [:]][title] = assembler(
                    "\(id)/sections/\(title)", name, "/feeds/\(name)/sections/\(title)",
                    SectionedDataSource([section], followed: sectioned?.followed),
                    nil)
            }
        }
        self.feeds = feeds
        self.sections = sections
    }

    func feed(_ name: String) throws(Problem) -> FeedAssembler {
        guard let feed = feeds[name] else { throw Problem(.notFound, .unknownFeed, "There is no such feed.") }
        return feed
    }

    func listed(
        titles: [String: LocalizedText], in language: FeedLanguage?, layouts: [CellLayout], links: Links,
        filters: [String: [[FilterValue]]]
    ) -> [UInt8] {
        struct Listed: Encodable {
            struct Section: Encodable {
                var name: String
                @Null var title: String?
                var path: String
                var href: String
            }

            struct Filter: Encodable {
                struct Value: Encodable {
                    var value: String
                    var title: String?
                    var count: Int
                }

                var name: String
                var title: String?
                var type: String
                var values: [Value]
            }

            struct Feed: Encodable {
                var name: String
                @Null var title: String?
                var path: String
                var href: String
                var layouts: [String]
                var sections: [Section]
                var filters: [Filter]?
            }

            var feeds: [Feed]
        }
        let names = feeds.keys.sorted { $1 != DeclaredFeeds.mainName && ($0 == DeclaredFeeds.mainName || $0 < $1) }
        let listed = Listed(
            feeds: names.compactMap { name -> Listed.Feed? in
                guard let feed = feeds[name] else { return nil }
                let sections = (feed.source as? SectionedDataSource)?.sections ?? []
                let path = name == DeclaredFeeds.mainName ? "/feed" : "/feeds/\(name)"
                return Listed.Feed(
                    name: name, title: titles[name]?[language], path: path, href: links.href(path), layouts: layouts.map(\.rawValue),
                    sections: sections.compactMap { section in
                        guard let part = section.name else { return nil }
                        let path = "/feeds/\(name)/sections/\(part)"
                        return Listed.Section(name: part, title: section.title?[language], path: path, href: links.href(path))
                    },
                    filters: filters[name].map { values in
                        zip(feed.filters, values).map { filter, values in
                            Listed.Filter(
                                name: filter.name, title: filter.label?[language], type: filter.form.rawValue,
                                values: values.map {
                                    .init(value: $0.value, title: filter.choiceLabels[$0.value]?[language], count: $0.count)
                                })
                        }
                    })
            })
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(listed)).map { Array($0) } ?? []
    }

    func forgetRankings(of viewer: String) {
        for feed in [main] + feeds.values { feed.forgetRanking(of: viewer) }
    }

    var filteredFeeds: [String: FeedAssembler] { feeds.filter { !$0.value.filters.isEmpty } }

    var paths: [(path: String, pattern: String, feed: FeedAssembler)] {
        [("/feed", "/feed", main)] + feeds.map { ("/feeds/\($0)", "/feeds/{name}", $1) }
            + sections.flatMap { name, sections in
                sections.map { ("/feeds/\(name)/sections/\($0)", "/feeds/{name}/sections/{section}", $1) }
            }
    }

    /// The feed or section that issued a cursor, with the filters that the request has for it.
    func feed(of cursor: String, _ filters: (FeedAssembler) -> [String: [String]]) throws(FeedError) -> FeedAssembler {
        for assembler in [main] + feeds.values + sections.values.flatMap(\.values) {
            do { try assembler.validate(cursor: cursor, filters(assembler)) } catch {
                if error == .cursor(.otherFeed) { continue }
                throw error
            }
            return assembler
        }
        throw FeedError.cursor(.otherFeed)
    }

    func section(_ section: String, of feed: String) throws(Problem) -> FeedAssembler {
        _ = try self.feed(feed)
        guard let found = sections[feed]?[section] else {
            throw Problem(.notFound, .unknownSection, "There is no such section in this feed.")
        }
        return found
    }
}

extension DeclaredFeeds {
    func sources(streams: [String: StreamID], settings: FeedSettings) -> [String: any DataSource] {
        var sources: [String: any DataSource] = [Self.mainName: FlatDataSource(order: section(Self.mainName).order)]
        for (feed, names) in feeds {
            let (settings, isFollowing) = (settings.with(ads[feed]), following.contains(feed))
            sources[feed] = SectionedDataSource(
                names.compactMap { name in
                    let section = section(name)
                    return streams[name].map {
                        FeedSection(
                            name, title: section.title, stream: $0, order: isFollowing ? .newest : section.order,
                            placement: section.placement(settings))
                    }
                }, followed: isFollowing ? authors : nil, showsAdsAlone: feed == Self.mainName)
        }
        return sources
    }

    private func section(_ name: String) -> DeclaredSection {
        sections.first { $0.name == name } ?? DeclaredSection(name: name)
    }
}

extension DeclaredSection {
    func placement(_ settings: FeedSettings) -> (any AdPlacement)? {
        guard ads.perPage != 0 else { return MidpointPlacement(advertisements: 0) }
        return ads == DeclaredAds() ? nil : settings.with(ads).placement
    }
}
