internal import HTTPTypes
internal import IntertwineHTTPServer
internal import IntertwineItems
internal import IntertwineLedger
internal import Synchronization

/// A cache of encoded redirects for clicks. Why: many clicks lead to few destinations, so each response is encoded once.
final class RedirectCache: Sendable {
    private struct Key: Hashable {
        var location: ByteString
        /// The verdict in the response; nil if verdicts are not reported.
        var verdict: Verdict?
    }

    /// The maximum number of entries. If it is reached, the cache is cleared.
    private static let capacity = 1_024

    /// A Boolean value indicating whether responses contain the ledger's verdict.
    private let reportsVerdict: Bool
    private let known = Mutex<[Key: EncodedResponse]>([:])

    init(reportsVerdict: Bool) {
        self.reportsVerdict = reportsVerdict
    }

    /// Returns a redirect as a response with fields that callers can inspect.
    func uncached(to location: String, as verdict: Verdict) -> ServerResponse {
        var fields: HTTPFields = [.location: location, .cacheControl: "no-store"]
        if reportsVerdict { fields[.xVerdict] = verdict.rawValue }
        return ServerResponse(status: .found, fields: fields)
    }

    func response(to location: String, as verdict: Verdict) -> EncodedResponse {
        let key = Key(location: ByteString(location), verdict: reportsVerdict ? verdict : nil)
        if let encoded = known.withLock({ $0[key] }) { return encoded }
        let encoded = EncodedResponse(uncached(to: location, as: verdict), compressionLevel: nil, route: nil)
        known.withLock { known in
            if known.count >= Self.capacity { known = [:] }
            known[key] = encoded
        }
        return encoded
    }
}
