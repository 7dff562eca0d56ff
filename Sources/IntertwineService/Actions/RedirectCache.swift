internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwineRouting
internal import Synchronization

/// Where clicks are led, as finished answers: many of them go to few places, and each of those is written once.
final class RedirectCache: Sendable {
    private struct Key: Hashable {
        var location: ByteString
        /// Nil where it is not told.
        var verdict: Verdict?
    }

    /// When there are more, all are forgotten.
    private static let capacity = 1_024

    /// Whether configuration has the ledger's verdict told.
    private let reportsVerdict: Bool
    private let variesByOrigin: Bool
    private let known = Mutex<[Key: EncodedResponse]>([:])

    /// - Parameter variesByOrigin: whether answers differ by the request's origin.
    init(reportsVerdict: Bool, variesByOrigin: Bool) {
        (self.reportsVerdict, self.variesByOrigin) = (reportsVerdict, variesByOrigin)
    }

    /// The answer as fields, for whoever may look at them.
    func uncached(to location: String, as verdict: Verdict) -> ServerResponse {
        var fields: HTTPFields = [.location: location, .cacheControl: "no-store"]
        if reportsVerdict { fields[.xVerdict] = verdict.rawValue }
        if variesByOrigin { fields.append(contentsOf: CORSPolicy.vary) }
        return ServerResponse(status: .found, fields: fields)
    }

    func response(to location: String, as verdict: Verdict) -> ServerResponse {
        let key = Key(location: ByteString(location), verdict: reportsVerdict ? verdict : nil)
        if let finished = known.withLock({ $0[key] }) { return ServerResponse(finished) }
        let finished = EncodedResponse(uncached(to: location, as: verdict), compressionLevel: nil, route: nil)
        known.withLock { known in
            if known.count >= Self.capacity { known = [:] }
            known[key] = finished
        }
        return ServerResponse(finished)
    }
}
