extension AdServer {
    struct RecentDecisions {
        private static let capacity = 32_768

        private var recent: [UInt64: [ServedAd?]] = [:]
        private var older: [UInt64: [ServedAd?]] = [:]
        private var turned: Int64 = .min
        private(set) var banned: [UInt64: [Int32]] = [:]

        subscript(key: UInt64) -> [ServedAd?]? { recent[key] ?? older[key] }

        mutating func store(_ served: [ServedAd?], as key: UInt64, besides banned: [Int32] = [], now: Int64, lifetime: Int64) {
            if recent.count >= Self.capacity || now < turned || now >= turned &+ lifetime || turned == .min {
                (older, recent, turned) = (recent, [:], now)
                self.banned = self.banned.filter { older[$0.key] != nil }
            }
            recent[key] = served
            if !banned.isEmpty || self.banned[key] != nil { self.banned[key] = banned }
        }

        mutating func forget(_ key: UInt64) {
            recent[key] = nil
            older[key] = nil
            banned[key] = nil
        }
    }

    /// The slots that are reserved for each viewer and have no impression yet, for campaigns with frequency caps.
    struct UncommittedImpressions {
        typealias ReservedCount = (campaign: String, count: Int, until: Int64)
        private static let capacity = 65_536

        private var viewers: [UInt64: [ReservedCount]] = [:]

        func reservations(of viewer: String, now: Int64) -> [ReservedCount] {
            viewers[AdDecision.seed(viewer)]?.filter { $0.until > now } ?? []
        }

        mutating func add(_ campaign: String, to viewer: String, now: Int64, lifetime: Int64) {
            if viewers.count >= Self.capacity { viewers = viewers.filter { $0.value.contains { $0.until > now } } }
            if viewers.count >= Self.capacity { viewers = [:] }
            var counts = reservations(of: viewer, now: now)
            let count = counts.first { $0.campaign == campaign }?.count ?? 0
            counts.removeAll { $0.campaign == campaign }
            counts.append((campaign, count + 1, now &+ lifetime))
            viewers[AdDecision.seed(viewer)] = counts
        }

        mutating func remove(_ campaign: String, of viewer: String) {
            let key = AdDecision.seed(viewer)
            guard let index = viewers[key]?.firstIndex(where: { $0.campaign == campaign }) else { return }
            viewers[key]?[index].count -= 1
            if viewers[key]?[index].count == 0 { viewers[key]?.remove(at: index) }
            if viewers[key]?.isEmpty == true { viewers[key] = nil }
        }
    }
}
