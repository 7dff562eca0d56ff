internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwineRouting
internal import Synchronization

/// Where clicks are led, as finished answers: many of them go to few places, and each of those is written once.
final class FinishedRedirects: Sendable {
    private struct Key: Hashable {
        var location: ExactText
        /// Nil where it is not told.
        var verdict: Verdict?
    }

    /// When there are more, all are forgotten.
    private static let capacity = 1_024

    /// Whether configuration has the ledger's verdict told.
    private let tellsVerdict: Bool
    private let variesByOrigin: Bool
    private let known = Mutex<[Key: FinishedResponse]>([:])

    /// - Parameter variesByOrigin: whether answers differ by the request's origin.
    init(tellsVerdict: Bool, variesByOrigin: Bool) {
        (self.tellsVerdict, self.variesByOrigin) = (tellsVerdict, variesByOrigin)
    }

    /// The answer as fields, for whoever may look at them.
    func plain(to location: String, as verdict: Verdict) -> ServerResponse {
        var fields: HTTPFields = [.location: location, .cacheControl: "no-store"]
        if tellsVerdict { fields[.xVerdict] = verdict.rawValue }
        if variesByOrigin { fields.append(contentsOf: CrossOriginPolicy.vary) }
        return ServerResponse(status: .found, fields: fields)
    }

    func finished(to location: String, as verdict: Verdict) -> ServerResponse {
        let key = Key(location: ExactText(location), verdict: tellsVerdict ? verdict : nil)
        if let finished = known.withLock({ $0[key] }) { return ServerResponse(finished) }
        let finished = FinishedResponse(plain(to: location, as: verdict), compressionLevel: nil, route: nil)
        known.withLock { known in
            if known.count >= Self.capacity { known = [:] }
            known[key] = finished
        }
        return ServerResponse(finished)
    }
}
