internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwinePrimitives
internal import Synchronization

/// Reads the client of a request: its viewer, its fingerprint for the ledger, its verdict, its targeting context, its capabilities and its
/// language.
struct ClientReader: Sendable {
    let viewers: ViewerReader
    private let addresses: AddressPrivacy
    private let rules: BotFilter
    private let counting: CountingRules
    private let proxies: TrustedNetworks
    private let forwardingWarning: ForwardingWarning?
    let languages: LanguageReader
    private let registry: ClientRegistry
    private let cells: Set<CellIdentifier>
    private let attributesField: String?
    private let counter = Counter()

    /// A counter that distinguishes requests without a viewer within one millisecond.
    private final class Counter: Sendable {
        private let count = Atomic<UInt16>(0)

        func next() -> UInt16 { count.wrappingAdd(1, ordering: .relaxed).newValue }
    }

    init(
        settings: EventSettings, robots: RobotNames = RobotNames(), viewers: ViewerReader, proxies: TrustedNetworks = .loopback,
        forwardingWarning: ForwardingWarning? = nil,
        keys: SigningKeys, languages: LanguageReader = LanguageReader(.none), registry: ClientRegistry = ClientRegistry(nil),
        cells: Set<CellIdentifier> = [], attributesField: String = ""
    ) {
        (self.languages, self.registry, self.cells) = (languages, registry, cells)
        self.attributesField = attributesField.isEmpty ? nil : attributesField.lowercased()
        self.viewers = viewers
        rules = BotFilter(robots)
        addresses = AddressPrivacy(mode: settings.address, keys: keys)
        (self.proxies, self.forwardingWarning) = (proxies, forwardingWarning)
        var counting = CountingRules()
        counting.clickWindow = settings.clickWindow.milliseconds
        counting.clickLimit = settings.clickRate
        counting.campaignClickLimit = settings.clicksPerCampaign
        counting.impressionLimit = settings.impressionRate
        counting.impressionWindow = max(counting.impressionWindow, settings.tokenLifetime.milliseconds + 3_600_000)
        counting.countsSeenClicksAlone = settings.countedClicks == .seen
        self.counting = counting
    }

    func identity(of request: RouteRequest) async throws(Problem) -> RequestIdentity {
        try await identity(of: request.head, from: request.request.peer.address, now: request.now)
    }

    func identity(of request: HTTPRequest, from peer: String, now: Int64) async throws(Problem) -> RequestIdentity {
        try await viewers.identity(of: request, from: peer, client: address(of: request, from: peer), now: now)
    }

    func fingerprint(of request: HTTPRequest, from peer: String, now: Int64) async throws(Problem) -> ClientFingerprint {
        let viewer = try await identity(of: request, from: peer, now: now).viewer
        var trace = fingerprint(of: ClientInfo(request, from: peer, .init()), viewer: viewer, now: now)
        trace.language = languages.language(of: request)
        return trace
    }

    func fingerprintIgnoringErrors(of request: HTTPRequest, from peer: String, now: Int64) -> ClientFingerprint {
        let info = ClientInfo(request, from: peer, .init())
        return fingerprint(
            of: info, viewer: viewers.viewerIgnoringErrors(of: request, from: peer, now: now), now: now,
            isForeignSubresource: info.isForeignSubresource, isUnasked: info.isUnasked)
    }

    func fingerprintIgnoringErrors(of head: borrowing RequestHead, from peer: String, now: Int64) -> ClientFingerprint {
        let info = ClientInfo(head, from: peer, .init(viewer: viewers.field?.canonicalName))
        let stated = try? viewers.viewer(named: info.viewer, isRepeated: info.viewerIsRepeated, from: peer)
        return fingerprint(
            of: info, viewer: stated ?? viewers.knownSender(of: head, now: now)?.subject, now: now,
            isForeignSubresource: info.isForeignSubresource, isUnasked: info.isUnasked)
    }

    private func fingerprint(
        of info: ClientInfo, viewer: String?, now: Int64, isForeignSubresource: Bool = false, isUnasked: Bool = false
    ) -> ClientFingerprint {
        let userAgent = info.userAgent
        let address = addresses.anonymized(of: address(forwardedFor: info.forwardedFor, from: info.peer), now: now)
        var fingerprint = ClientFingerprint(
            viewer: viewer, address: address?.stored, addressHash: address?.hash, otherAddressHashes: address?.otherHashes ?? [],
            yesterdaysAddressHashes: address?.yesterdaysHashes ?? [], userAgent: userAgent, isTracked: !info.optsOut,
            // The verdict depends on this request only; the ledger checks duplicates and limits.
            verdict: rules.verdict(
                userAgent: info.userAgents, purposes: info.purposes, isHead: info.isHead, isForeignSubresource: isForeignSubresource,
                isUnasked: isUnasked),
            counting: counting)
        fingerprint.networkHashes = address?.networkHashes ?? []
        return fingerprint
    }

    /// Why: impressions of robots never count, so robots get no paid ads.
    func targeting(of request: HTTPRequest, from peer: String, as identity: RequestIdentity, now: Int64) -> TargetingContext? {
        targeting(of: ClientInfo(request, from: peer, targetingFields), as: identity, now: now)
    }

    func targeting(of head: borrowing RequestHead, from peer: String, as identity: RequestIdentity, now: Int64) -> TargetingContext? {
        targeting(of: ClientInfo(head, from: peer, targetingFields), as: identity, now: now)
    }

    private var targetingFields: ClientInfo.FieldNames { .init(attributes: attributesField, languages: "accept-language") }

    private func targeting(of info: ClientInfo, as identity: RequestIdentity, now: Int64) -> TargetingContext? {
        guard identity.viewer != nil || info.userAgents.map(rules.isRobot) != true else { return nil }
        // A viewer who opts out of tracking is not stored.
        let viewer = info.optsOut ? nil : identity.viewer
        var context = TargetingContext(
            viewer: viewer, attributes: attributes(of: info, as: identity),
            languages: info.languages.map(LanguagePreferences.init),
            moment: viewer == nil ? now << 16 | Int64(counter.next()) : now / TargetingContext.displayPeriod)
        // A HEAD request delivers no page, so it allocates no ad.
        context.allocates = !info.isHead
        return context
    }

    func attributes(of request: HTTPRequest, from peer: String, as identity: RequestIdentity) -> ViewerAttributes? {
        attributes(of: ClientInfo(request, from: peer, targetingFields), as: identity)
    }

    func attributes(of head: borrowing RequestHead, from peer: String, as identity: RequestIdentity) -> ViewerAttributes? {
        attributes(of: ClientInfo(head, from: peer, targetingFields), as: identity)
    }

    private func attributes(of info: ClientInfo, as identity: RequestIdentity) -> ViewerAttributes? {
        guard info.attributes != nil || !identity.attributes.isEmpty else { return nil }
        return ViewerAttributes(info.attributes ?? "", claims: identity.attributes)
    }

    func addCapabilities(to feed: inout FeedRequest, from request: RouteRequest) async throws {
        feed.language = languages.language(of: request.head)
        if let digest = try request[FeedParameters.client] {
            feed.client = digest
            feed.unsupportedCells = UnsupportedCells(try await registry.capabilities(of: digest), among: cells)
        } else if let text = request.head.headerFields[.acceptCells], !text.isEmpty {
            // A list without members is an absent one (RFC 9651 section 3.1).
            feed.unsupportedCells = UnsupportedCells(try ClientCapabilities(text), among: cells)
        }
    }

    /// Returns the client's full address, which must not be stored.
    func address(of request: HTTPRequest, from peer: String) -> String {
        address(forwardedFor: request.headerFields[.xForwardedFor], from: peer)
    }

    func address(forwardedFor forwarded: String?, from peer: String) -> String {
        guard let forwarded else { return peer }
        guard proxies.contains(peer: peer) else {
            forwardingWarning?.note(peer)
            return peer
        }
        return proxies.client(peer: peer, forwardedFor: forwarded)
    }
}
