/// Which pictures are on disk, how much room each takes, and which of them nobody asked for lately. Pure.
struct DiskIndex: Sendable {
    struct Entry: Sendable {
        let bytes: Int
        /// Larger is more recent.
        var used: Int64
    }

    private(set) var entries: [String: Entry] = [:]
    /// The ends of the names of what was made of a picture, by the name of that.
    private var families: [Substring: Set<Substring>] = [:]
    /// Of all entries, and of what is being written.
    private(set) var bytes = 0
    private var clock: Int64 = 0

    /// File systems hand out whole blocks.
    static func room(for bytes: Int) -> Int {
        (bytes + 4_095) / 4_096 * 4_096
    }

    /// - Parameter used: where it was found at the start: when it was last written. Later uses are more recent than all of those.
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

    /// The names of what was made of a picture.
    func made(of family: String) -> [String] { (families[family[...]] ?? []).map { "\(family)-\($0)" } }

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

    /// Each entry with its last use, in no order.
    var uses: [(name: String, used: Int64)] { entries.map { ($0.key, $0.value.used) } }

    /// The entries that have to go until no more than `target` bytes are left, the first ones first. They are forgotten here.
    ///
    /// - Parameter order: some of the entries, perhaps as they were a moment ago.
    mutating func evict(_ order: [(name: String, used: Int64)], downTo target: Int) -> [String] {
        var gone: [String] = []
        for (name, _) in order {
            guard bytes > target else { break }
            guard entries[name] != nil else { continue }
            remove(name)
            gone.append(name)
        }
        return gone
    }
}
