import Testing

@testable import IntertwineService

@Suite("Rounds of live updates")
struct LiveFeedsTests {
    private typealias Group = (key: String, size: Int, network: Int?, round: Int)

    @Test("Large groups come first, and of equal ones those that waited longest")
    func order() {
        let groups: [Group] = [("one", 1, 1, 4), ("two", 2, 2, 9), ("old", 1, 2, 1), ("many", 900, nil, 9), ("some", 40, nil, 3)]
        #expect(LiveFeeds.due(groups) == ["many", "some", "two", "old", "one"])
    }

    @Test("The groups of one network, such as a client's with many widths, delay no other network, and each gets its turn")
    func networks() {
        var rounds = Dictionary(uniqueKeysWithValues: (0..<1_000).map { ("width\($0)", 0) })
        var seen: Set<String> = []
        for round in 1...32 {
            let groups: [Group] =
                rounds.map { ($0.key, 1, 7, $0.value) }
                + [("feed", 500, nil, round), ("phone", 1, 8, round), ("pad", 1, 9, round), ("office", 3, 7, round)]
            let due = LiveFeeds.due(groups)
            #expect(due.count == 35 && due.prefix(2) == ["feed", "office"] && due.contains("phone") && due.contains("pad"))
            for key in due where key.hasPrefix("width") {
                rounds[key] = round
                seen.insert(key)
            }
        }
        // 31 of them have their turn in a round, beside the larger group of their network.
        #expect(seen.count == 992)
    }
}
