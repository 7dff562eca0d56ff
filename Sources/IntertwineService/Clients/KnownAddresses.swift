internal import IntertwineFeed
internal import Synchronization

/// What is kept of the addresses that asked of late: a click from a known one costs a look-up, and no hash.
///
/// The whole addresses are in memory alone, and for a day at the most.
final class KnownAddresses: Sendable {
    struct Trace {
        /// As the ledger's rows may have it; nil where nothing is kept.
        var kept: String?
        /// By what the address is known again, for a day.
        var hash: String
        /// By what it was known the day before.
        var formerHash: String?
    }

    /// When there are more, all are forgotten.
    private static let capacity = 4_096

    private let privacy: AddressPrivacy
    private let known = Mutex<(day: Int64, traces: [String: Trace])>((0, [:]))

    init(_ privacy: AddressPrivacy) {
        self.privacy = privacy
    }

    /// Nil where the text is no address.
    ///
    /// - Parameter now: milliseconds since 1970-01-01 UTC.
    func trace(of address: String, now: Int64) -> Trace? {
        let day = AddressPrivacy.day(of: now)
        if let trace = known.withLock({ $0.day == day ? $0.traces[address] : nil }) { return trace }
        guard let hash = privacy.hash(of: address, now: now) else { return nil }
        let trace = Trace(
            kept: privacy.kept(of: address, now: now), hash: hash, formerHash: privacy.hash(of: address, now: now - AddressPrivacy.day))
        known.withLock { known in
            if known.day != day || known.traces.count >= Self.capacity { known = (day, [:]) }
            known.traces[address] = trace
        }
        return trace
    }
}
