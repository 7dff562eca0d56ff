import Synchronization

/// The campaigns that there are, those of the file and those of the store, and who gets the places of pages.
package final class Campaigns: Sendable {
    private struct Known {
        var items: [FeedItem] = []
        var creatives: [String: CreativeInfo?] = [:]
        /// Campaigns that are taken down.
        var withheld: [BlockedItem] = []
        /// As the store has them, and with those that it does not have yet.
        var storedMemberships: [CampaignMembership] = []
        var memberships: Set<CampaignMembership> = []
        var book: CampaignIndex
        /// At which it was looked for; nil before anybody has.
        var version: StoreVersion?
    }

    private struct CreativeInfo: Hashable {
        var creative: CreativeID
        var layouts: [CellLayout]
    }

    /// Takedowns of one kind that are looked at.
    private static let takedownLimit = 100_000

    package let delivery: AdServer
    private let declared: [Campaign]
    private let factories: CellFactories
    /// Nil if nothing is remembered.
    let memberships: (any CampaignMembershipStore)?
    /// What the store does not have yet.
    let unwritten = Mutex<Set<CampaignMembership>>([])
    /// Nil where it is not known.
    let inventory: CampaignInventory?
    /// Whoever has written a campaign meets it on the next page: requests wait for it, however long looking takes.
    private let cache = VersionedCache<CampaignIndex>(maximumWait: .seconds(3_600))
    private let known: Mutex<Known>
    /// Campaigns of the store that were taken down since this process has known them, by their ids.
    private let departed = Mutex<[String: Campaign]>([:])
    /// From the first start to the last end.
    private let span = Span()

    private final class Span: Sendable {
        let start = Atomic(Int64.max)
        let end = Atomic(Int64.min)
    }

    /// - Parameters:
    ///   - declared: the campaigns of the file.
    ///   - memberships: remembers which advertisements belong to campaigns, for those who serve them; nil for those who write nothing.
    ///   - inventory: what places they can get; nil where that is not known.
    package init(
        _ declared: [Campaign], factories: CellFactories, delivery: AdServer, memberships: (any CampaignMembershipStore)? = nil,
        inventory: CampaignInventory? = nil
    ) {
        (self.declared, self.factories, self.delivery) = (declared, factories, delivery)
        (self.memberships, self.inventory) = (memberships, inventory)
        known = Mutex(Known(book: CampaignIndex([]) { _ in nil }))
    }

    /// Whether campaigns have places on pages of a feed, or of any, as far as dates go and as of when anybody last looked.
    package func hasActive(feed: String? = nil, at now: Int64) -> Bool {
        guard now >= span.start.load(ordering: .relaxed), now < span.end.load(ordering: .relaxed) else { return false }
        return known.withLock { $0.book.hasActiveCampaigns(feed: feed, at: now) }
    }

    /// Whether they may have: it is not known to be otherwise.
    ///
    /// - Parameter version: the store's. Where nobody has looked since it changed, there may be campaigns.
    package func mayHaveActive(feed: String? = nil, at now: Int64, _ version: StoreVersion) -> Bool {
        known.withLock { $0.version != version || $0.book.hasActiveCampaigns(feed: feed, at: now) }
    }

    /// All of them, as they stand in a snapshot; nil where there are none.
    func book(at version: StoreVersion, in snapshot: any FeedSnapshot, of store: any FeedStore) throws -> CampaignIndex? {
        var book = known.withLock { $0.version == version ? $0.book : nil }
        if book == nil { book = try cache.value(at: version, in: snapshot, of: store) { [self] in try load($0, at: version) } }
        return book.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// One of them, as of when anybody last looked.
    package func campaign(_ id: String) -> Campaign? {
        let book = latest
        return book.index(of: id).map { book.campaigns[$0] }
    }

    /// All of them, as of the last look.
    var latest: CampaignIndex { known.withLock { $0.book } }

    /// The same for whoever has no snapshot.
    package func book(of store: any FeedStore) async throws -> CampaignIndex? {
        let version = store.version
        // Nothing is read where nothing has changed.
        if let book = known.withLock({ $0.version == version ? $0.book : nil }) { return book.isEmpty ? nil : book }
        return try await store.read(for: .request) { [self] in try book(at: version, in: $0, of: store) }
    }

    /// URLs in the fields of advertisements that are taken down with the campaigns that they are in.
    package func withheldURLs(in store: any FeedStore) async throws -> [String] {
        guard let withheld = try await book(of: store)?.takenDown, !withheld.isEmpty else { return [] }
        return try await store.read(for: .background) { snapshot in
            try withheld.flatMap { creative in
                try snapshot.item(kind: creative.kind, id: creative.id).flatMap { try? JSONValue(json: $0.body) }?.urls ?? []
            }
        }
    }

    /// Those whose campaign has gone or changed are found by their bytes: where all is as it was, so is the book.
    ///
    /// - Parameter version: the store's, read before the snapshot was taken.
    private func load(_ snapshot: any FeedSnapshot, at version: StoreVersion) throws -> CampaignIndex {
        let form = ItemType(kind: Campaign.kind, variant: "")
        var items: [FeedItem] = []
        // Two who write at the same time may pass the limit: none of theirs is left out for that.
        while items.count < 2 * CampaignIndex.limit {
            let batch = 500
            let found = try snapshot.items(of: form, .forward, of: items.last?.position, limit: batch)
            items += found
            if found.count < batch { break }
        }
        let old = known.withLock { $0 }
        let withheld = try snapshot.blockedItems(kind: Campaign.kind, limit: Self.takedownLimit)
        let hasSameItems = items == old.items && withheld == old.withheld && old.version != nil
        let ids = Set(declared.map(\.id))
        let stopped = Set(withheld.map(\.id))
        let shown = declared.filter { !stopped.contains($0.id) }
        departed.withLock { departed in
            for campaign in old.book.campaigns where stopped.contains(campaign.id) { departed[campaign.id] = campaign }
        }
        let campaigns = hasSameItems ? old.book.campaigns : shown + items.compactMap { Campaign(item: $0) }.filter { !ids.contains($0.id) }
        let stored = try snapshot.memberships()
        let isSame = hasSameItems && stored == old.storedMemberships
        let memberships = isSame ? old.memberships : all(stored, and: campaigns)
        if unwritten.withLock({ !$0.isEmpty }) { Task { try? await remember() } }
        var creatives: [String: CreativeInfo?] = [:]
        // The house has none of theirs either.
        let kept = declared.filter { stopped.contains($0.id) }.flatMap(\.creatives) + withheld.flatMap(\.creatives)
        for name in campaigns.flatMap(\.creatives) + kept where creatives[name] == nil {
            creatives[name] = .some(try creative(name, in: snapshot))
        }
        let named = Set(isSame && creatives == old.creatives ? [] : campaigns.flatMap(\.creatives).map(item))
        let book =
            isSame && creatives == old.creatives
            ? old.book
            : CampaignIndex(campaigns, withheld: kept, former: memberships.filter { !named.contains($0.creative) }) { name in
                (creatives[name] ?? nil).map { ($0.creative, $0.layouts) }
            }
        known.withLock {
            $0 = Known(
                items: items, creatives: creatives, withheld: withheld, storedMemberships: stored, memberships: memberships, book: book,
                version: version)
        }
        span.start.store(book.span?.lowerBound ?? .max, ordering: .relaxed)
        span.end.store(book.span?.upperBound ?? .min, ordering: .relaxed)
        return book
    }

    /// Which item a campaign names.
    func item(of name: String) -> CreativeID {
        factories.item(ofCell: name).map { CreativeID(kind: $0.kind, id: $0.id) } ?? CreativeID(kind: "advertisement", id: name)
    }

    /// Campaigns that are taken down: as the file declares them, or as this process knew them, or else with nothing but their ids.
    package func takenDown(in store: any FeedStore) async throws -> [(id: String, campaign: Campaign?)] {
        let ids = try await store.read(for: .background) { snapshot in
            try snapshot.blockedItems(kind: Campaign.kind, limit: CampaignIndex.limit).map(\.id)
        }
        let known = departed.withLock { $0 }
        return ids.map { id in (id, declared.first { $0.id == id } ?? known[id]) }
    }

    /// By its own id or, where it is of another kind, by that of its cell.
    private func creative(_ name: String, in snapshot: any FeedSnapshot) throws -> CreativeInfo? {
        let creative = item(of: name)
        guard let item = try snapshot.item(kind: creative.kind, id: creative.id) else { return nil }
        let form = ItemType(kind: item.kind, variant: item.variant)
        return CreativeInfo(
            creative: creative,
            layouts: CellLayout.allCases.filter { factories.advertisementForms(in: $0).contains(form) })
    }
}

extension Campaigns {
    /// What was found where the campaigns of a file were held against a store.
    package struct ValidationResult: Sendable {
        /// What the two cannot have together, one line each: campaigns of one id, and creatives that there are not and never were.
        package var errors: [(campaign: String, creative: Int?, reason: String)] = []
        /// Creatives that were there once: whoever removed them, a source or an operator, does not keep the service from starting.
        package var gone: [(campaign: String, creative: String)] = []
    }

    /// - Parameters:
    ///   - ledger: knows which creatives there were; without, those that are not there are faults.
    ///   - isTrial: whether the ledger is not to remember those that there are.
    package func findings(in store: any FeedStore, _ ledger: (any CampaignLedger)?, isTrial: Bool = false) async throws -> ValidationResult
    {
        try await store.read(for: .background) { [self] snapshot in
            var findings = ValidationResult()
            var withheld: [String: Set<String>] = [:]
            let known = declared.isEmpty ? [] : try ledger?.knownCreatives() ?? []
            var new: Set<CreativeID> = []
            for campaign in declared {
                if try snapshot.item(kind: Campaign.kind, id: campaign.id) != nil {
                    findings.errors.append(
                        (campaign.id, nil, "the store has a campaign of the id '\(campaign.id)' too: take one of the two away"))
                }
                for (number, name) in campaign.creatives.enumerated() {
                    let creative = item(of: name)
                    let (kind, id) = (creative.kind, creative.id)
                    if try self.creative(name, in: snapshot) != nil {
                        if !known.contains(creative) { new.insert(creative) }
                        continue
                    }
                    let gone = try withheld[kind] ?? Set(snapshot.blockedItems(kind: kind, limit: Self.takedownLimit).map(\.id))
                    withheld[kind] = gone
                    if gone.contains(id) { continue }
                    if known.contains(creative) {
                        findings.gone.append((campaign.id, name))
                    } else {
                        findings.errors.append(
                            (campaign.id, number, "creatives: there is no advertisement '\(ItemError.shown(name))' in the store"))
                    }
                }
            }
            if !isTrial, findings.errors.isEmpty, !new.isEmpty { try ledger?.remember(Array(new)) }
            return findings
        }
    }
}

extension JSONValue {
    /// Those among its texts, however deep.
    fileprivate var urls: [String] {
        switch self {
        case .text(let text): text.hasPrefix("http://") || text.hasPrefix("https://") ? [text] : []
        case .list(let values): values.flatMap(\.urls)
        case .object(let members): members.flatMap(\.value.urls)
        case .integer, .number, .flag, .null: []
        }
    }
}
