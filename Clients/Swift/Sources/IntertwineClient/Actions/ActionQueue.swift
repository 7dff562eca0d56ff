import Foundation

/// A queue of requests for an unavailable server, in the order of the gestures; stored in a file if it must survive the app.
struct ActionQueue: Sendable {
    struct Entry: Codable, Sendable, Hashable {
        let key: String
        let method: String
        let href: String
        let body: JSONValue?
        /// The viewer who performed the gesture. Requests of other viewers are not sent.
        let viewer: String?
        let createdAt: Date
    }

    static let maxEntries = 1000
    /// The time in seconds for which the server remembers a key.
    static let maxAge: Double = 24 * 3600

    private(set) var entries: [Entry]
    private let file: URL?

    /// Reads the queue from a file. It is empty if the file is missing or damaged.
    init(file: URL?) {
        self.file = file
        entries = file.flatMap { try? Data(contentsOf: $0) }.flatMap { try? JSONDecoder().decode([Entry].self, from: $0) } ?? []
    }

    mutating func append(_ entry: Entry) throws {
        guard entries.count < Self.maxEntries else { throw ActionError.queueIsFull }
        entries.append(entry)
        try save()
    }

    /// Removes an entry. Returns false if it does not exist.
    mutating func remove(_ key: String) -> Bool {
        guard let index = entries.firstIndex(where: { $0.key == key }) else { return false }
        entries.remove(at: index)
        // If the file cannot be written, it contains one entry too many. The key ensures that the server performs it once.
        try? save()
        return true
    }

    /// Removes and returns entries whose keys the server has forgotten. Why: sending them again could perform them twice.
    mutating func removeExpired(now: Date) -> [Entry] {
        let expired = entries.filter { now.timeIntervalSince($0.createdAt) > Self.maxAge }
        for entry in expired { _ = remove(entry.key) }
        return expired
    }

    private func save() throws {
        guard let file else { return }
        try JSONEncoder().encode(entries).write(to: file, options: .atomic)
    }
}
