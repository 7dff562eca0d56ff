internal import IntertwineImages

/// The networks of trusted proxies: the service accepts `X-Forwarded-For` and the name of a viewer from them only.
struct TrustedNetworks: Sendable, Hashable {
    static let loopback = TrustedNetworks(["127.0.0.0/8", "::1"].compactMap(Network.init))

    /// Real chains of proxies are shorter.
    private static let maximumHops = 32

    let networks: [Network]

    init(_ networks: [Network]) {
        self.networks = networks
    }

    func contains(peer: String) -> Bool { contains(Self.address(in: peer[...])) }

    private func contains(_ text: String) -> Bool {
        guard let address = IPAddress(text) else { return false }
        return networks.contains { $0.contains(address) }
    }

    /// Each proxy appends the address of its own peer, so the last entry is the most reliable one. Evaluation begins there and continues
    /// while the address is that of a trusted proxy. An entry that is not an address ends the evaluation at the proxy that wrote it.
    func client(peer: String, forwardedFor forwarded: String?) -> String {
        guard let forwarded, contains(peer: peer) else { return peer }
        var client = peer
        var rest = forwarded[...]
        for _ in 0..<Self.maximumHops {
            let comma = rest.utf8.lastIndex(of: UInt8(ascii: ","))
            let entry = Self.trimmed(comma.map { rest[rest.utf8.index(after: $0)...] } ?? rest)
            // A list may have empty members (RFC 9110 section 5.6.1).
            if !entry.isEmpty {
                let hop = Self.address(in: entry)
                guard IPAddress(hop) != nil else { break }
                client = hop
                guard contains(hop) else { break }
            }
            guard let comma else { break }
            rest = rest[..<comma]
        }
        return client
    }

    private static func address(in entry: Substring) -> String {
        // A NUL would end the text for the system's parser.
        guard !entry.utf8.contains(0) else { return "" }
        var text = entry
        if text.utf8.first == UInt8(ascii: "[") {
            text = text.dropFirst().prefix { $0 != "]" }
        } else if let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), text.utf8.lastIndex(of: UInt8(ascii: ":")) == colon {
            text = text[..<colon]
        }
        let mapped = "::ffff:"
        let isMapped = text.utf8.contains(UInt8(ascii: ".")) && text.prefix(mapped.count).lowercased() == mapped
        return String(isMapped ? text.dropFirst(mapped.count) : text)
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text.utf8
        while let first = text.first, first == 0x20 || first == 0x09 { text = text.dropFirst() }
        while let last = text.last, last == 0x20 || last == 0x09 { text = text.dropLast() }
        return Substring(text)
    }
}
