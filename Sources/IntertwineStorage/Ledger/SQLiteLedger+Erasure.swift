package import IntertwineFeed

extension SQLiteLedger {
    /// SQLite overwrites deleted content with zeros (`secure_delete`).
    package func erase(viewer: String, owners: [String]) async throws -> ErasedViewer {
        let erased = try await eraseRows(of: viewer, owners: owners)
        try await flushCounts()
        var attempts = 50
        while true {
            do {
                try await completeLog(waiting: 20)
                return erased
            } catch is StoreError where attempts > 1 {
                attempts -= 1
                try await Task.sleep(for: .milliseconds(100))
            }
        }
    }
}
