import Testing

@testable import IntertwineFeed

@Suite("Client capabilities")
struct ClientCapabilitiesTests {
    @Test(
        "Capabilities match identifiers with versions, refusals and wildcards",
        arguments: [
            ("A, B;v=2", "A", 1, true), ("A, B;v=2", "B", 2, true), ("A, B;v=2", "B", 3, false), ("A;v=2", "A", 1, true),
            ("A", "C", 1, false),
            ("A, *", "C", 9, true), ("A, *;q=0", "C", 1, false), ("A;q=0, *", "A", 1, false), ("A;q=0.1", "A", 1, true),
            ("", "A", 1, false),
            (#""two words";v=3"#, "two words", 3, true), ("A;other=?1;v=2", "A", 2, true), ("A , B", "B", 1, true),
            (#""*""#, "C", 1, false),
        ])
    func knows(text: String, name: String, version: Int, isKnown: Bool) throws {
        let capabilities = try ClientCapabilities(text)
        #expect(capabilities.knows(CellIdentifier(name, version: version)) == isKnown)
        // Equal capabilities have one canonical text and one digest.
        let again = try ClientCapabilities(capabilities.text)
        #expect(again == capabilities && again.digest == capabilities.digest && again.digest.utf8.count == 16)
    }

    @Test(
        "A malformed capability list is refused",
        arguments: [
            "A,", ",A", "A B", "A;v=0", "A;v=x", "A;v", "A;q=2", "A;", "1", #""A"#, #""\x""#, "Ä", "A;V=1", "(A B)",
            "(a b);bindings",
        ])
    func faults(text: String) {
        #expect(throws: FeedError.self) { try ClientCapabilities(text) }
    }

    @Test("A list of more than 500 identifiers is refused")
    func bounds() throws {
        let list = { (count: Int) in (0..<count).map { "A\($0)" }.joined(separator: ", ") }
        #expect(throws: Never.self) { try ClientCapabilities(list(500)) }
        #expect(throws: FeedError.self) { try ClientCapabilities(list(501)) }
    }

    @Test("Clients without the same cells are equal, and full support equals no restriction")
    func unsupportedCells() throws {
        let all: Set<CellIdentifier> = [CellIdentifier("A"), CellIdentifier("B", version: 2)]
        #expect(UnsupportedCells(try ClientCapabilities("A, B;v=2, Z"), among: all) == nil)
        #expect(UnsupportedCells(try ClientCapabilities("*"), among: all) == nil)
        let one = UnsupportedCells(try ClientCapabilities("A, B"), among: all)
        let other = UnsupportedCells(try ClientCapabilities("A, Z;v=7"), among: all)
        #expect(one != nil && one == other)
    }
}
