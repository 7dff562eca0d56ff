/// The price of a campaign's events. Amounts are whole millionths of the currency's unit, so sums are exact.
package struct CampaignPrice: Sendable, Hashable {
    package enum Model: String, Sendable, Hashable, CaseIterable {
        /// A price for 1,000 impressions, for a click, and for a playback to the end.
        case cpm, cpc, cpv

        var unit: CampaignStatistics.GoalUnit {
            switch self {
            case .cpm: .impressions
            case .cpc: .clicks
            case .cpv: .views
            }
        }

        package var kind: LedgerEvent.Kind { unit.kind }

        var units: Int64 { self == .cpm ? 1_000 : 1 }
    }

    static let largest: Int64 = 1_000_000_000
    static let millionths: Int64 = 1_000_000

    package var model: Model
    package var amount: Int64
    package var currency: String

    /// The spend in millionths, rounded down.
    package func spend(on events: Int64) -> Int64 {
        Int64(clamping: Int128(max(0, events)) * Int128(amount) / Int128(model.units))
    }

    /// The events that a budget in millionths pays.
    func events(for budget: Int64) -> Int64 { budget * model.units / amount }

    /// Reads an amount such as `2.5` in millionths; nil if it is not one.
    static func amount(_ text: String) -> Int64? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let whole = parts.first, (1...10).contains(whole.utf8.count),
            parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }), let units = Int64(whole),
            units <= largest
        else { return nil }
        let fraction = parts.count == 2 ? String(parts[1]) : ""
        guard fraction.utf8.count <= 6, let rest = Int64(fraction + String(repeating: "0", count: 6 - fraction.utf8.count)) else {
            return nil
        }
        return units * millionths + rest
    }

    /// An amount in millionths as a decimal number with two to six digits after the point.
    package static func text(_ amount: Int64) -> String {
        var fraction = String(millionths + amount % millionths).dropFirst()
        while fraction.utf8.count > 2, fraction.last == "0" { fraction.removeLast() }
        return "\(amount / millionths).\(fraction)"
    }
}

extension CampaignStatistics {
    package func spend(of counts: [LedgerEvent.Kind: Int]) -> String? {
        price.map { CampaignPrice.text($0.spend(on: Int64(counts[$0.model.kind] ?? 0))) }
    }
}
