internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwinePrimitives
internal import IntertwineRouting

/// Reads from a request who made it, as far as the ledger may know, whether it counts, and what its client can show, in which language.
struct ClientReader: Sendable {
    private static let longestViewer = 256

    private let viewerField: HTTPField.Name?
    /// In lower case.
    private let viewerFieldName: [UInt8]?
    private let addresses: AddressPrivacy
    private let rules = BotFilter()
    private let counting: CountingRules
    private let trustsForwarded: Bool
    let languages: LanguageReader
    private let registry: ClientRegistry
    /// All cells that the service may give.
    private let cells: Set<CellIdentifier>

    init(
        settings: EventSettings, keys: SigningKeys, languages: LanguageReader = LanguageReader(.none),
        registry: ClientRegistry = ClientRegistry(nil), cells: Set<CellIdentifier> = []
    ) {
        (self.languages, self.registry, self.cells) = (languages, registry, cells)
        viewerField = HTTPField.Name(settings.viewerHeader)
        viewerFieldName = viewerField.map { Array($0.canonicalName.utf8) }
        addresses = AddressPrivacy(mode: settings.address, keys: keys)
        trustsForwarded = settings.trustForwarded
        var counting = CountingRules()
        counting.clickWindow = settings.window.milliseconds
        counting.clickLimit = settings.rate
        counting.impressionLimit = settings.impressionRate
        counting.impressionWindow = max(counting.impressionWindow, settings.tokenLifetime.milliseconds + 3_600_000)
        counting.countsSeenClicksAlone = settings.countedClicks == .seen
        self.counting = counting
    }

    /// The viewer that the request names, or nil.
    ///
    /// - Throws: ``Problem`` (400) where there are two names, or one that is too long to be one or was not UTF-8: what it said is not
    ///   known then, and two that differ could be taken for one.
    func viewer(of request: HTTPRequest) throws(Problem) -> String? {
        let values = viewerField.map { request.headerFields[values: $0] } ?? []
        return try viewer(named: values.first, isRepeated: values.count > 1)
    }

    /// The party that the client's use of resources counts for: the viewer that it names; if it names none, its address (of IPv6 its
    /// network, /64). It must not be stored.
    func party(of request: HTTPRequest, from peer: String) -> String {
        if let viewer = try? viewer(of: request) { return "viewer " + viewer }
        let address = address(of: request, from: peer)
        guard let bytes = AddressPrivacy.bytes(of: address), bytes.count > 4 else { return address }
        return Hexadecimal.text(Array(bytes.prefix(8)))
    }

    /// Whether whoever has such a user agent says to be a program.
    func isRobot(_ userAgent: String?) -> Bool { userAgent.map(rules.isRobot) ?? false }

    /// Whether the request has a field for the name of a viewer.
    func mayNameViewer(_ head: borrowing RequestHead) -> Bool { viewerFieldName.map { head.hasField($0) } ?? false }

    /// The viewer that a request names once and in ASCII; nil where it needs a closer look.
    func viewerID(of head: borrowing RequestHead) -> String? {
        let viewer = viewerFieldName.flatMap { head.singleASCIIValue(of: $0) }
        return viewer.flatMap { $0.utf8.count <= Self.longestViewer && $0 != "." && $0 != ".." ? $0 : nil }
    }

    /// - Parameters:
    ///   - peer: the address at the other end of the connection.
    ///   - now: milliseconds since 1970-01-01 UTC.
    /// - Throws: ``Problem`` (400) where the viewer's name cannot be one.
    func fingerprint(of request: HTTPRequest, from peer: String, now: Int64) throws(Problem) -> ClientFingerprint {
        let fields = ClientFields(request, viewerField: viewerField?.canonicalName)
        var trace = fingerprint(
            of: fields, viewer: try viewer(named: fields.viewer, isRepeated: fields.viewerIsRepeated), from: peer, now: now)
        trace.language = languages.language(of: request)
        return trace
    }

    /// The same for a link that is followed whatever else the request says: a name that cannot be a viewer's is none. A link that a page of
    /// another site loads as an image, a script, a frame or by `fetch` does not count (Fetch Metadata).
    func fingerprintIgnoringErrors(of request: HTTPRequest, from peer: String, now: Int64) -> ClientFingerprint {
        fingerprintIgnoringErrors(of: ClientFields(request, viewerField: viewerField?.canonicalName), from: peer, now: now)
    }

    /// The same of a request that nothing has been made of.
    func fingerprintIgnoringErrors(of head: borrowing RequestHead, from peer: String, now: Int64) -> ClientFingerprint {
        fingerprintIgnoringErrors(of: ClientFields(head, viewerField: viewerField?.canonicalName), from: peer, now: now)
    }

    private func fingerprintIgnoringErrors(of fields: ClientFields, from peer: String, now: Int64) -> ClientFingerprint {
        fingerprint(
            of: fields, viewer: (try? viewer(named: fields.viewer, isRepeated: fields.viewerIsRepeated)) ?? nil, from: peer, now: now,
            isForeignSubresource: fields.isForeignSubresource)
    }

    private func viewer(named value: String?, isRepeated: Bool) throws(Problem) -> String? {
        if let viewerField, isRepeated {
            throw Problem(.badRequest, .invalidParameter, "\(viewerField.canonicalName) must stand there once.")
        }
        guard let viewerField, let value, !value.isEmpty else { return nil }
        guard value.utf8.count <= Self.longestViewer || value.unicodeScalars.count <= Self.longestViewer else {
            throw Problem(
                .badRequest, .invalidParameter, "\(viewerField.canonicalName) must be at most \(Self.longestViewer) characters long.")
        }
        // Names of paths, by which nobody could be erased.
        guard value != ".", value != ".." else {
            throw Problem(.badRequest, .invalidParameter, "\(viewerField.canonicalName) must not be '.' or '..'.")
        }
        guard !value.unicodeScalars.contains("\u{FFFD}") else {
            throw Problem(.badRequest, .invalidParameter, "\(viewerField.canonicalName) must be valid UTF-8.")
        }
        return value
    }

    private func fingerprint(
        of fields: ClientFields, viewer: String?, from peer: String, now: Int64, isForeignSubresource: Bool = false
    ) -> ClientFingerprint {
        let userAgent = fields.userAgent
        let address = addresses.anonymized(of: address(forwardedFor: fields.forwardedFor, from: peer), now: now)
        return ClientFingerprint(
            viewer: viewer, address: address?.stored, addressHash: address?.hash, otherAddressHashes: address?.otherHashes ?? [],
            yesterdaysAddressHashes: address?.yesterdaysHashes ?? [], userAgent: userAgent, isTracked: !fields.asksForNoTrace,
            // What the request itself says; duplicates and limits are for the ledger.
            verdict: rules.verdict(
                userAgent: userAgent, purposes: fields.purposes, isHead: fields.isHead, isForeignSubresource: isForeignSubresource),
            counting: counting)
    }

    /// Notes what the client can show, by `Accept-Cells` or by the digest of a registered client, and in which language.
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

    /// The client's whole address: not to be stored.
    func address(of request: HTTPRequest, from peer: String) -> String {
        address(forwardedFor: trustsForwarded ? request.headerFields[.xForwardedFor] : nil, from: peer)
    }

    /// - Parameter forwarded: the values of `X-Forwarded-For`.
    func address(forwardedFor forwarded: String?, from peer: String) -> String {
        guard trustsForwarded, let forwarded else { return peer }
        // The last entry is the one that our own proxy wrote; those before it are the client's word.
        guard let address = forwarded.split(separator: ",").last?.addressAlone, AddressPrivacy.bytes(of: address) != nil else {
            return peer
        }
        return address
    }
}

extension String {
    /// As many whole characters of UTF-8 as so many bytes hold.
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

    /// Some proxies write the port too: `192.0.2.1:4711`, `[2001:db8::1]:4711`.
    fileprivate var addressAlone: String {
        let entry = trimmed
        if entry.first == "[" { return String(entry.dropFirst().prefix { $0 != "]" }) }
        guard let colon = entry.firstIndex(of: ":"), entry[colon...].dropFirst().firstIndex(of: ":") == nil else { return entry }
        return String(entry[..<colon])
    }
}

/// What the fields of a request say of who made it, gathered in one pass: every click is looked at for all of them.
struct ClientFields {
    /// Longer values are cut: what a client sends must not fill the ledger.
    private static let longestUserAgent = 256

    let isHead: Bool
    private(set) var viewer: String?
    /// A viewer has one name: of two that are told nobody knows which is meant.
    private(set) var viewerIsRepeated = false
    private var userAgents: String?
    private(set) var forwardedFor: String?
    /// Whether `DNT` or `Sec-GPC` asks that nothing is remembered of who sent the request.
    private(set) var asksForNoTrace = false
    /// The values of `Sec-Purpose` and of those before it.
    private(set) var purposes: [String] = []
    private var fetchSite: String?
    private var fetchMode: String?
    private var fetchDestination: String?

    /// Whether a page of another site caused the request, and not by going to a page. Apps send no Fetch Metadata fields.
    var isForeignSubresource: Bool {
        guard fetchSite == "cross-site" || fetchSite == "same-site" else { return false }
        return fetchMode != "navigate" || fetchDestination != "document"
    }

    /// - Parameter viewerField: the field that names the viewer, in lower case.
    init(_ request: HTTPRequest, viewerField: String?) {
        isHead = request.method == .head
        for field in request.headerFields { add(field.name.canonicalName, viewerField) { field.value } }
    }

    /// The same of a request that nothing has been made of.
    init(_ head: borrowing RequestHead, viewerField: String?) {
        isHead = head.method == .head
        head.forEachField { name, value in add(name, viewerField, value) }
    }

    init(isHead: Bool) {
        self.isHead = isHead
    }

    var userAgent: String? { userAgents.map { $0.prefix(bytes: Self.longestUserAgent) } }

    mutating func add(_ name: String, _ viewerField: String?, _ value: () -> String) {
        // It may be one of the others too.
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

    /// Whether a member of the value is 1.
    private static func isOptOut(_ value: String) -> Bool { value.split(separator: ",").contains { $0.trimmed == "1" } }

    /// A field that stands there more than once is one list (RFC 9110, 5.3).
    private static func add(_ value: String, to joined: inout String?) {
        joined = joined.map { "\($0), \(value)" } ?? value
    }
}
