import Feed
import Logging
import Testing

@testable import Service

@Suite("The feeds that are served")
struct FeedCatalogueTests {
    @Test("a feed is whole, and a section of it alone is not, even where the feed has no other")
    func parts() throws {
        let keys = SigningKeys(current: try SigningKey(Array(repeating: 7, count: 32)))
        let factories = try CellFactories.standard()
        let catalogue = FeedCatalogue(["agenda": SectionedDataSource([FeedSection("events", lane: Lane(rawValue: 2))])]) {
            FeedAssembler(
                name: $0, path: $1, store: NoStore(), source: $2, factories: factories, keys: keys, tokens: CellTokens(keys: keys),
                logger: Logger(label: "tests"))
        }
        #expect(try catalogue.feed("agenda").source.isWhole)
        #expect(try !catalogue.section("events", of: "agenda").source.isWhole)
        #expect(catalogue.main.source.isWhole)
    }

    private struct NoStore: FeedStore {
        let version = StoreVersion(high: 0, low: 0)

        func read<Value: Sendable>(_ body: @escaping @Sendable (any FeedSnapshot) throws -> Value) async throws -> Value {
            throw StoreError.unavailable("there is none")
        }
    }
}
