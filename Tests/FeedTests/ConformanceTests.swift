import IntertwineConformance
import IntertwineItems
import Testing

@Suite("Conformance of the store in memory")
struct MemoryStoreConformanceTests {
    @Test("The store conforms, with content and advertisements")
    func conforms() async throws {
        let store = MemoryStore()
        for number in 0..<12 {
            let isAdvertisement = number % 4 == 0
            let kind = isAdvertisement ? "ad" : "card"
            let item = FeedItem(kind: kind, id: "c\(number)", variant: "", position: Int64(number * 2), body: [])
            store.put(item, in: isAdvertisement ? .advertisements : .content)
        }
        try await Conformance.check(store)
    }
}
