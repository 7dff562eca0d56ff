import Foundation

/// What waits for a server that is away, in the order of the gestures; in a file, where it is to survive the app.
struct ActionQueue: Sendable {
    struct Entry: Codable, Sendable, Hashable {
        let key: String
        let method: String
        let href: String
        let body: JSONValue?
        /// Who performed it: nobody else sends it.
        let viewer: String?
        let begun: Date
    }

    static let most = 1000
    /// For as long the server knows a key.
    static let longest: Double = 24 * 3600

    private(set) var entries: [Entry]
    private let file: URL?

    /// What the file holds; nothing, where it is missing or damaged.
    init(file: URL?) {
        self.file = file
        entries = file.flatMap { try? Data(contentsOf: $0) }.flatMap { try? JSONDecoder().decode([Entry].self, from: $0) } ?? []
    }

    mutating func append(_ entry: Entry) throws {
        guard entries.count < Self.most else { throw ActionError.queueIsFull }
        entries.append(entry)
        try save()
    }

    /// False where it was not there any more.
    mutating func remove(_ key: String) -> Bool {
        guard let index = entries.firstIndex(where: { $0.key == key }) else { return false }
        entries.remove(at: index)
        // A file that cannot be written holds one too many: its key sees to it that it is done once.
        try? save()
        return true
    }

    /// Those whose keys the server has forgotten: sent again, they might be done again.
    mutating func removeExpired(now: Date) -> [Entry] {
        let expired = entries.filter { now.timeIntervalSince($0.begun) > Self.longest }
        for entry in expired { _ = remove(entry.key) }
        return expired
    }

    private func save() throws {
        guard let file else { return }
        try JSONEncoder().encode(entries).write(to: file, options: .atomic)
    }
}
