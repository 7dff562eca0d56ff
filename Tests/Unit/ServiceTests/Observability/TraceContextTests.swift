import Testing

@testable import IntertwineService

@Suite("Trace context")
struct TraceContextTests {
    private static let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    @Test(
        "A valid traceparent is accepted",
        arguments: [parent, parent.replacing("-01", with: "-00"), "cc" + parent.dropFirst(2) + "-what-the-future-brings"])
    func valid(value: String) {
        #expect(AccessLog.isTraceParent(value))
    }

    @Test(
        "An invalid traceparent is refused, and a new unsampled trace begins",
        arguments: [
            "", "00", parent.uppercased(), parent + "-x", "ff" + parent.dropFirst(2), String(parent.dropLast()),
            "00-00000000000000000000000000000000-b7ad6b7169203331-01", "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            parent.replacing("-", with: "_"), "cc" + parent.dropFirst(2) + "x", parent.replacing("0af7", with: "0ag7"),
        ])
    func invalid(value: String) {
        #expect(!AccessLog.isTraceParent(value))
        var bytes: [UInt8] = []
        AccessLog.appendTraceParent(continuing: value, to: &bytes)
        let own = String(decoding: bytes, as: UTF8.self)
        #expect(AccessLog.isTraceParent(own))
        #expect(own.hasSuffix("-00"))
    }

    @Test("A continued trace keeps its trace ID and flags with a new span ID")
    func continues() {
        var bytes: [UInt8] = []
        AccessLog.appendTraceParent(continuing: Self.parent, to: &bytes)
        let own = String(decoding: bytes, as: UTF8.self)
        #expect(AccessLog.isTraceParent(own))
        #expect(own.prefix(35) == Self.parent.prefix(35))
        #expect(own.suffix(3) == "-01")
        #expect(own != Self.parent)
    }

    @Test("Random IDs are unique")
    func unique() {
        var seen: Set<[UInt8]> = []
        for _ in 0..<10_000 {
            var bytes: [UInt8] = []
            AccessLog.appendRandom(to: &bytes)
            #expect(bytes.count == 16)
            seen.insert(bytes)
        }
        #expect(seen.count == 10_000)
    }
}
