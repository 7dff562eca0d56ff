/// An index of the images on disk with their sizes and their last use. The type is pure: it performs no I/O.
struct DiskIndex: Sendable {
    struct Entry: Sendable {
        let bytes: Int
        /// The last use; a larger number is more recent.
        var used: Int64
    }

    private(set) var entries: [String: Entry] = [:]
    /// The name suffixes of resized images, by the name of the original.
    private var families: [Substring: Set<Substring>] = [:]
    /// The bytes of all entries and of reservations for writes.
    private(set) var bytes = 0
    private var clock: Int64 = 0

    /// Returns the disk space of a file, rounded up to blocks of 4,096 bytes.
    static func room(for bytes: Int) -> Int {
        (bytes + 4_095) / 4_096 * 4_096
    }

    /// Adds an entry.
    ///
    /// - Parameter used: The time of the last write for a file that is found at startup. Later uses count as more recent.
    mutating func insert(_ name: String, bytes room: Int, used: Int64? = nil) {
        remove(name)
        clock = max(clock, used ?? 0) + 1
        entries[name] = Entry(bytes: room, used: used ?? clock)
        bytes += room
        if let (family, end) = Self.parts(name) { families[family, default: []].insert(end) }
    }

    mutating func remove(_ name: String) {
        guard let entry = entries.removeValue(forKey: name) else { return }
        bytes -= entry.bytes
        guard let (family, end) = Self.parts(name) else { return }
        families[family]?.remove(end)
        if families[family]?.isEmpty == true { families[family] = nil }
    }

    /// Returns the names of the images resized from an original.
    func variants(of family: String) -> [String] { (families[family[...]] ?? []).map { "\(family)-\($0)" } }

    private static func parts(_ name: String) -> (Substring, Substring)? {
        name.firstIndex(of: "-").map { (name[..<$0], name[name.index(after: $0)...]) }
    }

    mutating func touch(_ name: String) {
        clock += 1
        entries[name]?.used = clock
    }

    mutating func reserve(_ room: Int) {
        bytes += room
    }

    mutating func release(_ room: Int) {
        bytes -= room
    }

    /// The entries with their last use, in unspecified order.
    var uses: [(name: String, used: Int64)] { entries.map { ($0.key, $0.value.used) } }

    /// Removes entries in the given order until at most `target` bytes are left, and returns their names.
    ///
    /// - Parameter order: Entries in the order of eviction; the list may be slightly out of date.
    mutating func evict(_ order: [(name: String, used: Int64)], downTo target: Int) -> [String] {
        var evicted: [String] = []
        for (name, _) in order {
            guard bytes > target else { break }
            guard entries[name] != nil else { continue }
            remove(name)
            evicted.append(name)
        }
        return evicted
    }
}
