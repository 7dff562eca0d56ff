internal import IntertwineFeed
internal import IntertwineStorage

/// Looks whether the advertisements are there that campaigns name, in the store or among what is written with them. What is taken down may come
/// back.
struct CreativeCheck: Sendable {
    let store: any ItemStore
    let kinds: ItemKinds

    /// - Returns: the first that is missing, and the number of the item that names it.
    func missing(of items: [ValidItem]) async throws -> (number: Int, creative: CreativeNames.Named)? {
        let written = Set(items.map { ItemKey($0) })
        for (number, item) in items.enumerated() {
            for creative in kinds.creatives(of: item) where !written.contains(creative.key) {
                let key = creative.key
                if try await store.read({ try $0.item(kind: key.kind, id: key.id) }) != nil { continue }
                if try await store.takedown(of: key) == nil { return (number, creative) }
            }
        }
        return nil
    }
}
