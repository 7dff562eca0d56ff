struct DiskIndex: Sendable {
    struct Entry: Sendable {
        let bytes: Int
        var used: Int64
    }

    private(set) var entries: [String: Entry] = [:]
    private var families: [Substring: Set<Substring>] = [:]
    private(set) var bytes = 0
    private var clock: Int64 = 0

    static func room(for bytes: Int) -> Int {
        (bytes + 4_095) / 4_096 * 4_096
    }

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

    var uses: [(name: String, used: Int64)] { entries.map { ($0.key, $0.value.used) } }

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
