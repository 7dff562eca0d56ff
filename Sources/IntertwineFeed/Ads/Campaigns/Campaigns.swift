internal import IntertwinePrimitives
import Synchronization

package final class Campaigns: Sendable {
    private struct Known {
        var items: [FeedItem] = []
        var creatives: [ByteString: CampaignIndex.Creative] = [:]
        var blocked: [BlockedItem] = []
        /// The ads of campaigns that are taken down and in no other campaign.
        var withheld: Set<CreativeID> = []
        var overrides: [String: Campaign.Override] = [:]
        /// The ads that the store has and no page shows: with their schedules, or taken down.
        var scheduled: [ByteString: ItemSchedule] = [:]
        var stopped: Set<ByteString> = []
        var campaignIndex: CampaignIndex
        var version: StoreVersion?
    }

    private static let takedownLimit = 100_000

    package let delivery: AdServer
    private let declared: [Campaign]
    private let ids: Set<String>
    let factories: CellFactories
    let inventory: CampaignInventory?
    /// The names that sources of ads have in place of campaigns.
    let sources: Set<String>
    /// Requests wait for a load to finish, so that a campaign that was just written appears on the next page.
    private let cache = VersionedCache<CampaignIndex>(maximumWait: .seconds(3_600))
    private let known: Mutex<Known>
    private let departed = Mutex<[String: Campaign]>([:])
    private let firstStart = Atomic(Int64.max)
    private let lastEnd = Atomic(Int64.min)

    package init(
        _ declared: [Campaign], factories: CellFactories, delivery: AdServer, inventory: CampaignInventory? = nil,
        sources: Set<String> = []
    ) {
        (self.declared, self.factories, self.delivery, self.inventory, self.sources) = (declared, factories, delivery, inventory, sources)
        ids = Set(declared.map(\.id))
        known = Mutex(Known(campaignIndex: CampaignIndex([]) { _ in nil }))
    }

    package func hasActive(feed: String? = nil, at now: Int64) -> Bool {
        guard now >= firstStart.load(ordering: .relaxed), now < lastEnd.load(ordering: .relaxed) else { return false }
        return known.withLock { $0.campaignIndex.hasActiveCampaigns(feed: feed, at: now) }
    }

    /// True unless it is known that no campaign of the feed is active.
    package func mayHaveActive(feed: String? = nil, at now: Int64, _ version: StoreVersion) -> Bool {
        known.withLock { $0.version != version || $0.campaignIndex.hasActiveCampaigns(feed: feed, at: now) }
    }

    package func campaignIndex(at version: StoreVersion, in snapshot: any StoreSnapshot, of store: any FeedStore) throws -> CampaignIndex? {
        var campaignIndex = known.withLock { $0.version == version ? $0.campaignIndex : nil }
        if campaignIndex == nil {
            campaignIndex = try cache.value(at: version, in: snapshot, of: store) { [self] in try load($0, at: version) }
        }
        return campaignIndex.flatMap { $0.isEmpty ? nil : $0 }
    }

    package func isDeclared(_ id: String) -> Bool { ids.contains(id) }

    /// The campaigns with an override that the file does not declare any more.
    package var orphans: [String] { known.withLock { $0.overrides.keys.filter { !ids.contains($0) }.sorted() } }

    package func campaign(_ id: String) -> Campaign? {
        let campaignIndex = latest
        return campaignIndex.index(of: id).map { campaignIndex.campaigns[$0] }
    }

    var latest: CampaignIndex { known.withLock { $0.campaignIndex } }

    package func campaignIndex(of store: any FeedStore) async throws -> CampaignIndex? {
        let version = store.version
        // If the store version is unchanged, nothing is read.
        if let campaignIndex = known.withLock({ $0.version == version ? $0.campaignIndex : nil }) {
            return campaignIndex.isEmpty ? nil : campaignIndex
        }
        return try await store.read(for: .request) { [self] in try campaignIndex(at: version, in: $0, of: store) }
    }

    package func withheldURLs(in store: any FeedStore) async throws -> [String] {
        _ = try await campaignIndex(of: store)
        let withheld = known.withLock { $0.withheld }
        if withheld.isEmpty { return [] }
        return try await store.read(for: .background) { snapshot in
            try withheld.flatMap { creative in
                let item = try snapshot.storedItem(kind: creative.kind, id: creative.id)
                return item.flatMap { $0.isHouseAd ? nil : try? JSONValue(json: $0.body) }?.urls ?? []
            }
        }
    }

    func isWithheld(_ creative: CreativeID) -> Bool { known.withLock { $0.withheld.contains(creative) } }

    private func load(_ snapshot: any StoreSnapshot, at version: StoreVersion) throws -> CampaignIndex {
        var items: [FeedItem] = []
        try snapshot.forEachRow(in: .type(ItemType(kind: Campaign.kind, variant: ""))) { row in
            items.append(row.item)
            // Concurrent writers may exceed the limit. The campaigns beyond it are still read.
            return items.count < 2 * CampaignIndex.limit
        }
        let old = known.withLock { $0 }
        let blocked = try snapshot.blockedItems(kind: Campaign.kind, limit: Self.takedownLimit)
        var overrides: [String: Campaign.Override] = [:]
        for override in Campaign.Override.allCases.reversed() {
            for item in try snapshot.blockedItems(kind: override.kind, limit: Self.takedownLimit) { overrides[item.id] = override }
        }
        let isSame = items == old.items && blocked == old.blocked && overrides == old.overrides && old.version != nil
        let stopped = Set(blocked.map(\.id))
        let shown = declared.filter { !stopped.contains($0.id) }.map { campaign in
            guard let override = overrides[campaign.id] else { return campaign }
            var campaign = campaign
            (campaign.override, campaign.isPaused) = (override, override == .paused)
            return campaign
        }
        departed.withLock { departed in
            for campaign in old.campaignIndex.campaigns where stopped.contains(campaign.id) { departed[campaign.id] = campaign }
        }
        let campaigns =
            isSame
            ? old.campaignIndex.campaigns
            : (shown + items.compactMap { Campaign(item: $0) }.filter { !ids.contains($0.id) && !sources.contains($0.id) })
                .map { inventory?.canonical($0) ?? $0 }
        var (scheduled, stoppedAds): ([ByteString: ItemSchedule], Set<ByteString>) = ([:], [])
        var blockedAds: [String: Set<String>] = [:]
        var creatives: [ByteString: CampaignIndex.Creative] = [:]
        for name in campaigns.flatMap(\.creatives) where creatives[ByteString(name)] == nil {
            let creative = item(of: name)
            guard let found = try snapshot.item(kind: creative.kind, id: creative.id) else {
                let ids =
                    try blockedAds[creative.kind]
                    ?? Set(snapshot.blockedItems(kind: creative.kind, limit: Self.takedownLimit).map(\.id))
                blockedAds[creative.kind] = ids
                if ids.contains(creative.id) { stoppedAds.insert(ByteString(name)) }
                if let stored = try snapshot.storedItem(kind: creative.kind, id: creative.id) {
                    scheduled[ByteString(name)] = ItemSchedule(body: stored.body)
                }
                continue
            }
            creatives[ByteString(name)] = CampaignIndex.Creative(
                id: creative, layouts: found.isHouseAd ? [] : layouts(of: found), isHouseAd: found.isHouseAd,
                unreported: factories.unreported(by: found.type, countingUnseenClicks: inventory?.countsUnseenClicks ?? true))
        }
        var campaignIndex = old.campaignIndex
        if !isSame || creatives != old.creatives { campaignIndex = CampaignIndex(campaigns) { creatives[ByteString($0)] } }
        let names = declared.filter { stopped.contains($0.id) }.flatMap(\.creatives) + blocked.flatMap(\.creatives)
        let withheld = Set(names.map(item)).subtracting(campaignIndex.creatives)
        known.withLock {
            $0 = Known(
                items: items, creatives: creatives, blocked: blocked, withheld: withheld, overrides: overrides, scheduled: scheduled,
                stopped: stoppedAds, campaignIndex: campaignIndex, version: version)
        }
        firstStart.store(campaignIndex.span?.lowerBound ?? .max, ordering: .relaxed)
        lastEnd.store(campaignIndex.span?.upperBound ?? .min, ordering: .relaxed)
        return campaignIndex
    }

    func item(of name: String) -> CreativeID {
        factories.item(ofCell: name).map { CreativeID(kind: $0.kind, id: $0.id) } ?? CreativeID(kind: Advertisement.kind, id: name)
    }

    package func takenDown(in store: any FeedStore) async throws -> [(id: String, campaign: Campaign?)] {
        let ids = try await store.read(for: .background) { snapshot in
            try snapshot.blockedItems(kind: Campaign.kind, limit: CampaignIndex.limit).map(\.id)
        }
        let known = departed.withLock { $0 }
        return ids.map { id in (id, declared.first { $0.id == id } ?? known[id]) }
    }

    private func layouts(of creative: FeedItem) -> [CellLayout] {
        CellLayout.allCases.filter { factories.advertisementForms(in: $0).contains(creative.type) }
    }

    /// The states of a campaign's ads that are stored and not public.
    func hiddenCreatives(of campaign: Campaign, at now: Int64) -> [(name: String, state: String)] {
        known.withLock { known in
            campaign.creatives.compactMap { name in
                let state = known.stopped.contains(ByteString(name)) ? "taken down" : known.scheduled[ByteString(name)]?.state(at: now)
                return state.map { (name, $0) }
            }
        }
    }

    /// Returns the first event of the goal or the price that a creative cannot report, with the missing slot.
    func unreported(by campaign: Campaign) -> (member: String, unit: Campaign.Goal.Unit, slot: CommandKey)? {
        let creatives = known.withLock { $0.creatives }
        for name in campaign.creatives {
            for (member, unit) in campaign.counted {
                if let slot = creatives[ByteString(name)]?.unreported[unit] { return (member, unit, slot) }
            }
        }
        return nil
    }
}

extension Campaigns {
    package typealias ValidationResult = (errors: [(campaign: String, reason: String)], gone: [(campaign: String, creative: String)])

    package func findings(in store: any FeedStore) async throws -> ValidationResult {
        try await store.read(for: .background) { [self] snapshot in
            var findings: ValidationResult = ([], [])
            for campaign in declared {
                if try snapshot.storedItem(kind: Campaign.kind, id: campaign.id) != nil {
                    findings.errors.append((campaign.id, "the store has a campaign with the id '\(campaign.id)' too: remove one of them"))
                }
                for name in campaign.creatives {
                    let creative = item(of: name)
                    if try snapshot.storedItem(kind: creative.kind, id: creative.id) == nil { findings.gone.append((campaign.id, name)) }
                }
            }
            return findings
        }
    }
}

extension JSONValue {
    fileprivate var urls: [String] {
        switch self {
        case .text(let text): text.hasPrefix("http://") || text.hasPrefix("https://") ? [text] : []
        case .list(let values): values.flatMap(\.urls)
        case .object(let members): members.flatMap(\.value.urls)
        case .integer, .number, .flag, .null: []
        }
    }
}

extension CellFactories {
    /// Returns the events that the cells of an item type cannot report, or that count only after an impression that they cannot report, each
    /// with the missing slot. The commands of a program's factory are unknown.
    fileprivate func unreported(by form: ItemType, countingUnseenClicks: Bool) -> [Campaign.Goal.Unit: CommandKey] {
        let factories = CellLayout.allCases.compactMap { self[form, $0] }
        func isMissing(_ slot: CommandKey) -> Bool {
            !factories.contains { factory in
                guard let plan = (factory as? any ReportingFactory)?.plan else { return true }
                return slot == .impression ? plan.keys.contains(slot) : plan.reported.contains(slot)
            }
        }
        let slots: [Campaign.Goal.Unit: [CommandKey]] = [
            .impressions: [.impression], .clicks: countingUnseenClicks ? [] : [.impression],
            .views: [CommandKey(LedgerEvent.Kind.complete.rawValue), .impression],
        ]
        return factories.isEmpty ? [:] : slots.compactMapValues { $0.first(where: isMissing) }
    }
}
