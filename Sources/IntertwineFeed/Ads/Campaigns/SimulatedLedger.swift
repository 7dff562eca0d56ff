import Synchronization

final class SimulatedLedger: CampaignLedger {
    private struct State {
        var book = DeliveryBook()
        var spans: [String: [Int64: Int64]] = [:]
        var exposures: [String: [FrequencyCount]] = [:]

        mutating func add(_ count: Int64, _ kind: LedgerEvent.Kind, of campaign: String, at now: Int64) {
            for span in [DeliveryBook.total.lowerBound, LedgerTime.span(of: now)] {
                spans[SimulatedLedger.key(campaign, kind), default: [:]][span, default: 0] += count
            }
        }

        func count(_ kind: LedgerEvent.Kind, of campaign: String, since span: Int64? = nil) -> Int64 {
            guard let counts = spans[SimulatedLedger.key(campaign, kind)] else { return 0 }
            guard let span else { return counts[DeliveryBook.total.lowerBound] ?? 0 }
            return counts.reduce(0) { $1.key >= span ? $0 + $1.value : $0 }
        }
    }

    private let processes: Int
    private let state = Mutex(State())

    init(processes: Int) {
        self.processes = processes
    }

    private static func key(_ campaign: String, _ kind: LedgerEvent.Kind) -> String { "\(kind.rawValue) \(campaign)" }

    func commit(_ events: [LedgerEvent]) -> [Verdict] {
        state.withLock { state in
            events.map { event in
                let verdict = state.book.judge(event)
                guard let impressionContext = event.impressionContext, let campaign = impressionContext.campaign else { return verdict }
                if verdict != .late { state.add(1, verdict == .counted ? event.kind : event.kind.surplus, of: campaign, at: event.at) }
                if event.kind == .impression, impressionContext.frequencyCapTTL > 0, let viewer = event.viewer {
                    state.exposures[viewer, default: []].append(FrequencyCount(campaign: campaign, at: event.at, count: 1))
                }
                return verdict
            }
        }
    }

    func exposures(of viewer: String, since moment: Int64) -> [FrequencyCount] {
        state.withLock { state in
            state.exposures[viewer]?.removeAll { $0.at <= moment }
            return state.exposures[viewer] ?? []
        }
    }

    func refresh(adding offers: [String: Int64], _ queries: [DeliveryQuery], now: Int64) -> DeliveryRefresh {
        state.withLock { state in
            for (campaign, count) in offers { state.add(count, .offer, of: campaign, at: now) }
            let recent = LedgerTime.span(of: DeliveryQuery.recent(at: now))
            let counts = queries.map { query in
                let (kind, id) = (query.kind, query.campaign)
                return DeliveryCount(
                    total: state.count(kind, of: id), today: state.count(kind, of: id, since: LedgerTime.span(of: query.day)),
                    surplus: state.count(kind.surplus, of: id), offers: state.count(.offer, of: id),
                    recentOffers: state.count(.offer, of: id, since: recent),
                    recentSeen: state.count(kind, of: id, since: recent) + state.count(kind.surplus, of: id, since: recent))
            }
            return (counts, processes)
        }
    }
}
