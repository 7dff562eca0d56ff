internal import HTTPTypes
internal import IntertwineHTTPServer

/// Why: a page of another site can let a name of its own point to this service (DNS rebinding). Its requests then come from the browser
/// beside the service, with any field that the page chooses. Only the field `Host` shows the other name.
struct HostNames: Sendable {
    private let publicHost: [UInt8]?
    private let ownHost: [UInt8]

    init(publicURL: String = "", host: String = "") {
        let authority = publicURL.firstRange(of: "://").map { publicURL[$0.upperBound...].prefix { $0 != "/" } } ?? ""
        publicHost = authority.isEmpty ? nil : Self.host(Array(authority.lowercased().utf8))
        ownHost = Array(host.lowercased().utf8)
    }

    /// Without `server.public-url`, a proxy may use any name. Then only a peer on this machine without a forwarding field may be a browser.
    func accepts(_ head: borrowing RequestHead, from peer: String) -> Bool {
        if head.withField("host", isOwn) ?? true { return true }
        guard publicHost == nil else { return false }
        return !TrustedNetworks.loopback.contains(peer: peer) || Self.isForwarded(head.request)
    }

    func accepts(_ request: HTTPRequest, from peer: String) -> Bool {
        if isOwn(Array((request.authority ?? "").utf8).span) { return true }
        return publicHost == nil && (!TrustedNetworks.loopback.contains(peer: peer) || Self.isForwarded(request))
    }

    private static func isForwarded(_ request: HTTPRequest) -> Bool {
        request.headerFields.contains {
            ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip"].contains($0.name.canonicalName)
        }
    }

    private func isOwn(_ authority: Span<UInt8>) -> Bool {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(authority.count)
        for index in authority.indices { bytes.append(authority[index] | (0x41...0x5A ~= authority[index] ? 0x20 : 0)) }
        let host = Self.host(bytes)
        if host == publicHost || host == ownHost || host.first == UInt8(ascii: "[") { return true }
        if !host.contains(UInt8(ascii: ".")) || host.suffix(10).elementsEqual(".localhost".utf8) { return true }
        return host.allSatisfy { $0 == UInt8(ascii: ".") || 0x30...0x39 ~= $0 }
    }

    private static func host(_ authority: [UInt8]) -> [UInt8] {
        let end =
            authority.lastIndex(of: UInt8(ascii: "]")).map { $0 + 1 } ?? authority.firstIndex(of: UInt8(ascii: ":")) ?? authority.count
        let host = authority[..<end]
        return Array(host.last == UInt8(ascii: ".") ? host.dropLast() : host)
    }
}
