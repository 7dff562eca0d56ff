internal import HTTPTypes
internal import IntertwineCells
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwineIdentity
internal import IntertwineItems
internal import IntertwineLedger
internal import IntertwinePrimitives
internal import IntertwineRouting
internal import IntertwineSettings

/// Reads the client of a request: its viewer, its fingerprint for the ledger, its verdict, its capabilities and its language.
struct ClientReader: Sendable {
    let viewers: ViewerReader
    private let addresses: AddressPrivacy
    private let rules = BotFilter()
    private let counting: CountingRules
    private let proxies: TrustedNetworks
    private let forwardingWarning: ForwardingWarning?
    let languages: LanguageReader
    private let registry: ClientRegistry
    /// All cells that the service can render.
    private let cells: Set<CellIdentifier>

    init(
        settings: EventSettings, viewers: ViewerReader, proxies: TrustedNetworks = .loopback, forwardingWarning: ForwardingWarning? = nil,
        keys: SigningKeys, languages: LanguageReader = LanguageReader(.none), registry: ClientRegistry = ClientRegistry(nil),
        cells: Set<CellIdentifier> = []
    ) {
        (self.languages, self.registry, self.cells) = (languages, registry, cells)
        self.viewers = viewers
        addresses = AddressPrivacy(mode: settings.address, keys: keys)
        (self.proxies, self.forwardingWarning) = (proxies, forwardingWarning)
        var counting = CountingRules()
        counting.clickWindow = settings.clickWindow.milliseconds
        counting.clickLimit = settings.clickRate
        counting.impressionLimit = settings.impressionRate
        counting.impressionWindow = max(counting.impressionWindow, settings.tokenLifetime.milliseconds + 3_600_000)
        counting.countsSeenClicksAlone = settings.countedClicks == .seen
        self.counting = counting
    }

    /// Returns the sender of a request.
    ///
    /// - Throws: ``Problem``, as `ViewerReader` does.
    func identity(of request: RouteRequest) async throws(Problem) -> RequestIdentity {
        try await identity(of: request.head, from: request.request.peer.address, now: request.now)
    }

    func identity(of request: HTTPRequest, from peer: String, now: Int64) async throws(Problem) -> RequestIdentity {
        try await viewers.identity(of: request, from: peer, client: address(of: request, from: peer), now: now)
    }

    /// Returns the party for resource limits: the viewer of the request or, without a viewer, its address (of IPv6 its network, /64).
    ///
    /// The party must not be stored.
    func party(of request: HTTPRequest, from peer: String, now: Int64) -> String {
        if let viewer = viewers.viewerIgnoringErrors(of: request, from: peer, now: now) { return "viewer " + viewer }
        let address = address(of: request, from: peer)
        guard let bytes = AddressPrivacy.bytes(of: address), bytes.count > 4 else { return address }
        return Hexadecimal.text(Array(bytes.prefix(8)))
    }

    /// Returns true if a user agent identifies itself as a program.
    func isRobot(_ userAgent: String?) -> Bool { userAgent.map(rules.isRobot) ?? false }

    /// Returns the fingerprint of a request's client.
    ///
    /// - Parameters:
    ///   - peer: The address of the connection's peer.
    ///   - now: Milliseconds since 1970-01-01 UTC.
    /// - Throws: ``Problem``, as `ViewerReader` does.
    func fingerprint(of request: HTTPRequest, from peer: String, now: Int64) async throws(Problem) -> ClientFingerprint {
        let viewer = try await identity(of: request, from: peer, now: now).viewer
        var trace = fingerprint(of: ClientFields(request, viewerField: nil), viewer: viewer, from: peer, now: now)
        trace.language = languages.language(of: request)
        return trace
    }

    /// Returns the fingerprint of the client that follows a link; an invalid name of a viewer is ignored.
    ///
    /// A link that a page of another site loads as an image, a script, a frame or by `fetch` does not count (Fetch Metadata).
    func fingerprintIgnoringErrors(of request: HTTPRequest, from peer: String, now: Int64) -> ClientFingerprint {
        let fields = ClientFields(request, viewerField: nil)
        return fingerprint(
            of: fields, viewer: viewers.viewerIgnoringErrors(of: request, from: peer, now: now), from: peer, now: now,
            isForeignSubresource: fields.isForeignSubresource)
    }

    /// Returns the fingerprint of the client that follows a link, for the head of an unparsed request.
    func fingerprintIgnoringErrors(of head: borrowing RequestHead, from peer: String, now: Int64) -> ClientFingerprint {
        let fields = ClientFields(head, viewerField: viewers.field?.canonicalName)
        let stated = try? viewers.viewer(named: fields.viewer, isRepeated: fields.viewerIsRepeated, from: peer)
        return fingerprint(
            of: fields, viewer: stated ?? viewers.knownSender(of: head, now: now)?.subject, from: peer, now: now,
            isForeignSubresource: fields.isForeignSubresource)
    }

    private func fingerprint(
        of fields: ClientFields, viewer: String?, from peer: String, now: Int64, isForeignSubresource: Bool = false
    ) -> ClientFingerprint {
        let userAgent = fields.userAgent
        let address = addresses.anonymized(of: address(forwardedFor: fields.forwardedFor, from: peer), now: now)
        return ClientFingerprint(
            viewer: viewer, address: address?.stored, addressHash: address?.hash, otherAddressHashes: address?.otherHashes ?? [],
            yesterdaysAddressHashes: address?.yesterdaysHashes ?? [], userAgent: userAgent, isTracked: !fields.asksForNoTrace,
            // The verdict depends on this request only; the ledger checks duplicates and limits.
            verdict: rules.verdict(
                userAgent: userAgent, purposes: fields.purposes, isHead: fields.isHead, isForeignSubresource: isForeignSubresource),
            counting: counting)
    }

    /// Adds the client's capabilities and language to a feed request. Capabilities come from `Accept-Cells` or from a registered client's digest.
    ///
    /// - Throws: ``Problem`` (400), `StoreError`.
    func addCapabilities(to feed: inout FeedRequest, from request: RouteRequest) async throws {
        feed.language = languages.language(of: request.head)
        if let digest = try request[FeedParameters.client] {
            feed.client = digest
            feed.lacking = UnsupportedCells(try await registry.capabilities(of: digest), among: cells)
        } else if let text = request.head.headerFields[.acceptCells] {
            feed.lacking = UnsupportedCells(try ClientCapabilities(text), among: cells)
        }
    }

    /// Returns the client's full address, which must not be stored.
    func address(of request: HTTPRequest, from peer: String) -> String {
        address(forwardedFor: request.headerFields[.xForwardedFor], from: peer)
    }

    /// Returns the client's full address.
    ///
    /// - Parameter forwarded: The values of `X-Forwarded-For`.
    func address(forwardedFor forwarded: String?, from peer: String) -> String {
        guard let forwarded else { return peer }
        guard proxies.contains(peer: peer) else {
            forwardingWarning?.note(peer)
            return peer
        }
        return proxies.client(peer: peer, forwardedFor: forwarded)
    }
}

extension String {
    /// Returns the longest prefix of whole characters that is at most `limit` bytes of UTF-8.
    fileprivate func prefix(bytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var end = utf8.index(utf8.startIndex, offsetBy: limit)
        while utf8[end] & 0xC0 == 0x80 { end = utf8.index(before: end) }
        return String(self[..<end])
    }
}

extension Substring {
    fileprivate var trimmed: String {
        String(drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}

/// The fields of a request that identify its client, collected in one pass. Why: every click reads all of them.
struct ClientFields {
    /// The maximum length of a stored user agent. Longer values are truncated, so that clients cannot fill the ledger.
    private static let longestUserAgent = 256

    let isHead: Bool
    private(set) var viewer: String?
    /// True if the request has two names of a viewer, so that the viewer is ambiguous.
    private(set) var viewerIsRepeated = false
    private var userAgents: String?
    private(set) var forwardedFor: String?
    /// A Boolean value indicating whether `DNT` or `Sec-GPC` opts out of tracking.
    private(set) var asksForNoTrace = false
    /// The values of `Sec-Purpose` and of its predecessors.
    private(set) var purposes: [String] = []
    private var fetchSite: String?
    private var fetchMode: String?
    private var fetchDestination: String?

    /// True if a page of another site caused the request and it is no navigation. Apps send no Fetch Metadata fields.
    var isForeignSubresource: Bool {
        guard fetchSite == "cross-site" || fetchSite == "same-site" else { return false }
        return fetchMode != "navigate" || fetchDestination != "document"
    }

    /// - Parameter viewerField: The name of the viewer field, in lower case.
    init(_ request: HTTPRequest, viewerField: String?) {
        isHead = request.method == .head
        for field in request.headerFields { add(field.name.canonicalName, viewerField) { field.value } }
    }

    /// Collects the fields of an unparsed request.
    init(_ head: borrowing RequestHead, viewerField: String?) {
        isHead = head.method == .head
        head.forEachField { name, value in add(name, viewerField, value) }
    }

    init(isHead: Bool) {
        self.isHead = isHead
    }

    var userAgent: String? { userAgents.map { $0.prefix(bytes: Self.longestUserAgent) } }

    mutating func add(_ name: String, _ viewerField: String?, _ value: () -> String) {
        // The viewer field may also be one of the other fields.
        if name == viewerField {
            viewerIsRepeated = viewer != nil
            viewer = value()
        }
        switch name {
        case "user-agent": Self.add(value(), to: &userAgents)
        case "x-forwarded-for": Self.add(value(), to: &forwardedFor)
        case "dnt", "sec-gpc": asksForNoTrace = asksForNoTrace || Self.isOptOut(value())
        case "sec-purpose", "purpose", "x-purpose", "x-moz": purposes.append(value())
        case "sec-fetch-site": fetchSite = value()
        case "sec-fetch-mode": fetchMode = value()
        case "sec-fetch-dest": fetchDestination = value()
        default: break
        }
    }

    /// Returns true if a member of the value is 1.
    private static func isOptOut(_ value: String) -> Bool { value.split(separator: ",").contains { $0.trimmed == "1" } }

    /// Appends a value of a field that occurs more than once, as one list (RFC 9110 section 5.3).
    private static func add(_ value: String, to joined: inout String?) {
        joined = joined.map { "\($0), \(value)" } ?? value
    }
}
