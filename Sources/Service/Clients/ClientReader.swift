internal import Feed
internal import HTTPTypes

/// Reads from a request who made it, as far as the ledger may know, and whether it counts.
struct ClientReader: Sendable {
    /// Longer values are cut: what a client sends must not fill the ledger.
    private static let longestUserAgent = 256
    private static let longestViewer = 256

    private let viewerField: HTTPField.Name?
    private let addresses: KnownAddresses
    private let rules = VerdictRules()
    private let counting: CountingRules
    private let trustsForwarded: Bool

    init(settings: EventSettings, keys: SigningKeys) {
        viewerField = HTTPField.Name(settings.viewerHeader)
        addresses = KnownAddresses(AddressPrivacy(mode: settings.address, keys: keys))
        trustsForwarded = settings.trustForwarded
        var counting = CountingRules()
        counting.clickWindow = settings.window.milliseconds
        counting.clickLimit = settings.rate
        counting.impressionWindow = max(counting.impressionWindow, settings.tokenLifetime.milliseconds + 3_600_000)
        self.counting = counting
    }

    /// The viewer that the request names, or nil.
    ///
    /// - Throws: ``Problem`` (400) where the name is too long to be one.
    func viewer(of request: HTTPRequest) throws(Problem) -> String? {
        guard let viewerField, let value = request.headerFields[viewerField], !value.isEmpty else { return nil }
        guard value.utf8.count <= Self.longestViewer || value.unicodeScalars.count <= Self.longestViewer else {
            throw Problem(
                .badRequest, .invalidParameter, "\(viewerField.canonicalName) must be at most \(Self.longestViewer) characters long.")
        }
        return value
    }

    /// - Parameters:
    ///   - peer: the address at the other end of the connection.
    ///   - now: milliseconds since 1970-01-01 UTC.
    func trace(of request: HTTPRequest, from peer: String, now: Int64) throws(Problem) -> ClientTrace {
        let userAgent = request.headerFields[.userAgent].map { agent in
            agent.utf8.count <= Self.longestUserAgent ? agent : String(agent.prefix(Self.longestUserAgent))
        }
        let address = addresses.trace(of: address(of: request, from: peer), now: now)
        return ClientTrace(
            viewer: try viewer(of: request), address: address?.kept, addressHash: address?.hash, userAgent: userAgent,
            leavesTrace: !asksForNoTrace(request), verdict: verdict(of: request, userAgent: userAgent), counting: counting)
    }

    /// The client's whole address: not to be stored.
    func address(of request: HTTPRequest, from peer: String) -> String {
        guard trustsForwarded, let forwarded = request.headerFields[.xForwardedFor] else { return peer }
        // The last entry is the one that our own proxy wrote; those before it are the client's word.
        return forwarded.split(separator: ",").last.map { $0.trimmed } ?? peer
    }

    private func asksForNoTrace(_ request: HTTPRequest) -> Bool {
        [HTTPField.Name.dnt, .secGPC].contains { request.headerFields[$0] == "1" }
    }

    /// What the request itself says; duplicates and limits are for the ledger.
    private func verdict(of request: HTTPRequest, userAgent: String?) -> Verdict {
        let purposes = [HTTPField.Name.secPurpose, .purpose, .xPurpose, .xMoz].compactMap { request.headerFields[$0] }
        return rules.verdict(userAgent: userAgent, purposes: purposes, isHead: request.method == .head)
    }
}

extension Substring {
    fileprivate var trimmed: String {
        String(drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}
