package import IntertwinePrimitives

/// A forecast of delivery: it simulates campaigns, viewers and days with the real allocation logic, in simulated time and without a store.
package struct CampaignForecast: Sendable {
    package var viewers = 10_000
    package var days = 7
    package var requests = 100_000
    /// The start of the simulation in milliseconds since 1970-01-01 UTC.
    package var start: Int64
    package var seen = 1.0
    package var clicked = 0.01
    package var placement: any AdPlacement = MidpointPlacement()
    package var spacing = AdSpacing()
    package var limit = ContentRange.usualCount
    package var processes = 1
    package var slot = AdSlotContext(feed: "main")
    package var attributes: ViewerAttributes?
    package var languages: LanguagePreferences?

    package init(start: Int64) {
        self.start = start
    }

    package struct Forecast: Sendable, Hashable {
        package var campaign: String
        package var impressions = 0
        package var clicks = 0
        package var viewers = 0
        package var days: [Int]
        package var goal: Int?
        package var obstacle: IneligibilityReason?
    }

    private static let delay: Int64 = 3_000
    private static let refresh: Int64 = 500
    /// The time between them is at most 5 seconds. Why: A service evaluates 10 times per second and refreshes twice per second; so this rate
    /// simulated pages are further apart, so this rate is not needed.
    private static let pages: Int64 = 16
    private static let longest: Int64 = 5_000

    private struct Session {
        var shown: ShownAds?
        var items: Int64 = 0
    }

    private typealias PendingImpression = (at: Int64, events: [LedgerEvent])

    package func run(_ campaigns: [Campaign]) async throws -> [Forecast] {
        let campaignIndex = CampaignIndex(campaigns) {
            CampaignIndex.Creative(id: CreativeID(kind: Advertisement.kind, id: $0), layouts: CellLayout.allCases)
        }
        let ledger = SimulatedLedger(processes: processes)
        let span = Int64(max(1, days)) * 86_400_000
        let count = max(1, requests)
        let range = min(Self.longest, span / Int64(count) * Self.pages)
        let (tick, pause) = (max(CampaignPacer.tick, range), max(Self.refresh, range))
        let deliveries = (0..<max(1, processes)).map { _ in
            AdServer(ledger: ledger, isShared: processes > 1, tick: tick)
        }
        var forecasts = Dictionary(
            uniqueKeysWithValues: campaigns.map { ($0.id, Forecast(campaign: $0.id, days: Array(repeating: 0, count: max(1, days)))) })
        var seenBy: [String: Set<Int>] = [:]
        var waiting: [PendingImpression] = []
        var firstWaiting = 0
        var (sessions, today): ([Int: Session], Int64) = ([:], 0)
        var (random, lastReport) = (UInt64(0x2545_F491_4F6C_DD1D), Int64.min)
        func next() -> UInt64 {
            random = AdDecision.mix(random)
            return random
        }
        func chance(_ share: Double) -> Bool { Double(next() >> 11) / Double(1 << 53) < share }
        let kinds = Dictionary(campaigns.map { ($0.id, $0.goal?.kind ?? .impression) }, uniquingKeysWith: { first, _ in first })
        for delivery in deliveries { try delivery.begin(campaignIndex, now: start) }
        for number in 0..<count {
            let now = start + Int64(Double(span) * Double(number) / Double(count))
            while firstWaiting < waiting.count, waiting[firstWaiting].at <= now {
                commitImpression(waiting[firstWaiting])
                firstWaiting += 1
            }
            if firstWaiting > 10_000 {
                waiting.removeFirst(firstWaiting)
                firstWaiting = 0
            }
            if deliveries.count > 1, lastReport == .min || now - lastReport >= pause {
                for delivery in deliveries { try delivery.refresh(now: now) }
                lastReport = now
            }
            let viewer = Int(next() % UInt64(max(1, viewers)))
            let day = (now - start) / 86_400_000
            if day != today { (sessions, today) = ([:], day) }
            let page = page(after: sessions[viewer] ?? Session(), of: "v\(viewer)", identity: UInt32(truncatingIfNeeded: next()), now: now)
            let allocated = try deliveries[number % deliveries.count].choose(page, of: campaignIndex)
            sessions[viewer] = session(sessions[viewer] ?? Session(), with: page, allocated, of: campaignIndex)
            for allocated in allocated.compactMap(\.self) where chance(seen) {
                guard let served = campaignIndex.index(of: allocated.campaign) else { continue }
                let campaign = campaignIndex.campaigns[served]
                var events = [event(.impression, of: allocated, campaign, viewer, at: now + Self.delay)]
                if chance(clicked) { events.append(event(.click, of: allocated, campaign, viewer, at: now + Self.delay)) }
                // Every media that is seen is played to its end.
                if campaign.goal?.unit == .views { events.append(event(.complete, of: allocated, campaign, viewer, at: now + Self.delay)) }
                seenBy[allocated.campaign, default: []].insert(viewer)
                waiting.append((now + Self.delay, events))
            }
        }
        for impression in waiting[firstWaiting...] { commitImpression(impression) }

        func commitImpression(_ impression: PendingImpression) {
            let verdicts = ledger.commit(impression.events)
            deliveries[Int(next() % UInt64(deliveries.count))].eventsDidCommit(impression.events, verdicts)
            for (event, verdict) in zip(impression.events, verdicts) where verdict == .counted {
                guard let id = event.impressionContext?.campaign else { continue }
                if event.kind == .impression { forecasts[id]?.impressions += 1 }
                if event.kind == .click { forecasts[id]?.clicks += 1 }
                let day = min(Int((event.at - start) / 86_400_000), max(1, days) - 1)
                if event.kind == kinds[id] { forecasts[id]?.days[day] += 1 }
            }
        }
        return campaigns.map { campaign in
            var forecast = forecasts[campaign.id] ?? Forecast(campaign: campaign.id, days: [])
            forecast.viewers = seenBy[campaign.id]?.count ?? 0
            forecast.goal = goal(of: campaign, span: span)
            forecast.obstacle = obstacle(of: campaign, in: campaignIndex)
            return forecast
        }
    }

    private func page(after session: Session, of viewer: String, identity: UInt32, now: Int64) -> AdServer.Page {
        let range = ContentRange(count: limit, start: session.items)
        let coordinates =
            switch placement.supply {
            case .rotating(let count): placement.indices(for: max(0, count), in: range)
            case .perSlot: placement.indices(for: .max, in: range)
            case .pinned: [Int]()
            }
        let targeting = TargetingContext(
            viewer: viewer, attributes: attributes, languages: languages, moment: now / TargetingContext.displayPeriod)
        var page = AdServer.Page(slots: coordinates.map { _ in slot }, identity: identity, targeting: targeting, now: now)
        page.coordinates = coordinates
        page.distances = AdDistances(spacing, count: limit, around: session.shown)
        page.distances.begin(AdDecision.seed(viewer, UInt64(bitPattern: targeting.moment)))
        return page
    }

    private func session(
        _ session: Session, with page: AdServer.Page, _ allocated: [AdServer.ServedAd?], of campaignIndex: CampaignIndex
    ) -> Session {
        var distances = page.distances
        for (allocated, coordinate) in zip(allocated, page.coordinates) {
            guard let allocated, let index = campaignIndex.index(of: allocated.campaign) else { continue }
            distances.note(
                AdKey(allocated.creative), of: campaignIndex.campaigns[index].priority, labels: campaignIndex.labels(of: index),
                at: coordinate)
        }
        return Session(shown: distances.beside(.forward), items: session.items + Int64(limit))
    }

    private func obstacle(of campaign: Campaign, in campaignIndex: CampaignIndex) -> IneligibilityReason? {
        guard let index = campaignIndex.index(of: campaign.id) else { return nil }
        if let obstacle = campaignIndex.obstacle(of: index, at: slot) { return obstacle }
        let matchedTargeting = campaignIndex.matchedTargeting(
            TargetingContext(viewer: "", attributes: attributes, languages: languages, moment: 0))
        return campaignIndex.candidates(at: slot).entries.first { $0.index == index }.flatMap {
            AdDecision.obstacle(of: $0.rules, campaignIndex, matchedTargeting)
        }
    }

    private func goal(of campaign: Campaign, span: Int64) -> Int? {
        guard let goal = campaign.goal else { return nil }
        let end = start + span
        var due: [Int] = []
        if let total = goal.total {
            let pace = CampaignPace(campaign)
            func share(_ moment: Int64) -> Double {
                pace.share(from: campaign.starts ?? start, to: campaign.ends ?? end, at: moment)
            }
            // An evenly paced campaign without an hour of delivery within its dates is behind with its whole goal.
            let isWithin = (campaign.starts ?? start) >= start && (campaign.ends.map { $0 > start && $0 <= end } ?? false)
            let part = share(end) - share(start)
            due.append(campaign.pacing == .even && !(isWithin && part == 0) ? Int(Double(total) * part) : total)
        }
        if goal.daily != nil {
            // For each day of the campaign's zone, the amount that becomes due within the simulated part of that day.
            let (from, to) = (max(start, campaign.starts ?? start), min(end, campaign.ends ?? end))
            let pace = CampaignPace(campaign)
            var (sum, moment): (Int64, Int64) = (0, from)
            while moment < to {
                let day = campaign.zone.clocks.day(of: moment)
                let before = campaign.pacing == .even ? pace.dueToday(at: moment, in: day) ?? 0 : 0
                sum += (pace.dueToday(at: min(day.upperBound, to), in: day) ?? 0) - before
                moment = day.upperBound
            }
            due.append(Int(sum))
        }
        return due.min()
    }

    private func event(
        _ kind: LedgerEvent.Kind, of served: AdServer.ServedAd, _ campaign: Campaign, _ viewer: Int, at now: Int64
    ) -> LedgerEvent {
        var impressionContext = ImpressionContext(campaign: served.campaign, feed: slot.feed, frequencyCapTTL: served.frequencyCapTTL)
        impressionContext.served = served.at
        var event = LedgerEvent(at: now, kind: kind, cell: served.creative.id, viewer: "v\(viewer)", impressionContext: impressionContext)
        event.terms = campaign.terms(of: event)
        return event
    }
}
