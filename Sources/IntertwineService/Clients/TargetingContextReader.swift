internal import HTTPTypes
internal import IntertwineAds
internal import IntertwineHTTPServer
internal import IntertwinePrimitives
internal import Synchronization

/// Reads the targeting context of campaigns from a request.
struct TargetingContextReader: Sendable {
    /// The name of the request field with attributes, in lower case; nil without such a field.
    private let attributesField: String?
    /// The number of milliseconds in which a viewer's repeated request gets an identical page.
    private let window: Int64
    private let clients: ClientReader
    private let counter = Counter()

    /// - Parameters:
    ///   - attributesField: The request field with the viewer's attributes; empty for none.
    ///   - window: The number of milliseconds in which a viewer's repeated request gets an identical page.
    init(attributesField: String, window: Int64, clients: ClientReader) {
        self.clients = clients
        self.attributesField = attributesField.isEmpty ? nil : attributesField.lowercased()
        self.window = max(1, window)
    }

    /// Returns the targeting context of a request; nil for a robot without a viewer.
    ///
    /// Why: impressions of robots never count, so robots get no paid ads.
    ///
    /// - Parameters:
    ///   - peer: The address of the connection's peer.
    ///   - identity: The sender. `ViewerReader` has checked that a trusted proxy sent the field with attributes.
    func facts(of request: HTTPRequest, from peer: String, as identity: RequestIdentity, now: Int64) -> TargetingContext? {
        var fields = Fields(client: ClientFields(isHead: request.method == .head))
        for field in request.headerFields { fields.add(field.name.canonicalName, attributesField) { field.value } }
        return facts(fields, from: peer, identity, now)
    }

    func facts(of head: borrowing RequestHead, from peer: String, as identity: RequestIdentity, now: Int64) -> TargetingContext? {
        var fields = Fields(client: ClientFields(isHead: head.method == .head))
        head.forEachField { name, value in fields.add(name, attributesField, value) }
        return facts(fields, from: peer, identity, now)
    }

    private func facts(_ fields: Fields, from peer: String, _ identity: RequestIdentity, _ now: Int64) -> TargetingContext? {
        guard identity.viewer != nil || !clients.isRobot(fields.client.userAgent) else { return nil }
        // A viewer who opts out of tracking is not stored.
        let viewer = fields.client.asksForNoTrace ? nil : identity.viewer
        let hasAttributes = fields.attributes != nil || !identity.attributes.isEmpty
        var facts = TargetingContext(
            viewer: viewer, attributes: hasAttributes ? ViewerAttributes(fields.attributes ?? "", claims: identity.attributes) : nil,
            languages: fields.languages.map(LanguagePreferences.init),
            moment: viewer == nil ? now << 16 | Int64(counter.next()) : now / window)
        // A HEAD request delivers no page, so it allocates no ad.
        facts.allocates = !fields.client.isHead
        let address = clients.address(forwardedFor: fields.client.forwardedFor, from: peer)
        if viewer == nil { facts.address = self.address(address) } else { facts.network = WriteLimiter.network(of: address) }
        return facts
    }

    /// Returns a short hash of an address or its network; 0 if it is invalid.
    private func address(_ address: String) -> UInt16 {
        guard AddressPrivacy.bytes(of: address) != nil else { return 0 }
        return max(1, UInt16(truncatingIfNeeded: WriteLimiter.network(of: address)))
    }

    /// A counter that distinguishes requests without a viewer within one millisecond.
    private final class Counter: Sendable {
        private let count = Atomic<UInt16>(0)

        func next() -> UInt16 { count.wrappingAdd(1, ordering: .relaxed).newValue }
    }

    private struct Fields {
        var client: ClientFields
        var attributes: String?
        var languages: String?

        mutating func add(_ name: String, _ attributesField: String?, _ value: () -> String) {
            client.add(name, nil, value)
            if name == attributesField { Self.add(value(), to: &attributes) }
            if name == "accept-language" { Self.add(value(), to: &languages) }
        }

        private static func add(_ value: String, to joined: inout String?) {
            joined = joined.map { "\($0), \(value)" } ?? value
        }
    }
}
