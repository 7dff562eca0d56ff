internal import Crypto
internal import Glibc
internal import IntertwineFeed
internal import IntertwinePrimitives
internal import Synchronization

/// What is kept of clients' addresses: never the whole of one.
///
/// What was made of those that asked of late is remembered: a click from a known one costs a look-up, and no hash. Whole addresses are in memory
/// alone, and for a day at the most.
final class AddressPrivacy: Sendable {
    struct AnonymizedAddress {
        /// As the ledger's rows may have it; nil where nothing is kept.
        var stored: String?
        /// By what the address is known again, for a day.
        var hash: String
        /// By what it is known under the other keys.
        var otherHashes: [String]
        /// By what it was known the day before.
        var yesterdaysHashes: [String]
    }

    /// Milliseconds.
    private static let day: Int64 = 86_400_000
    /// When more are remembered, all are forgotten.
    private static let capacity = 4_096

    private let mode: EventSettings.Address
    /// The one in force first; then the one before it, and the one to come.
    private let keys: [SymmetricKey]
    private let known = Mutex<(day: Int64, traces: [String: AnonymizedAddress])>((0, [:]))

    init(mode: EventSettings.Address, keys: SigningKeys) {
        self.mode = mode
        self.keys = keys.accepted.map { $0.derived(for: SigningPurpose(rawValue: "address")) }
    }

    /// The address as the ledger may have it, or nil where nothing is kept or the text is no address.
    ///
    /// - Parameter now: milliseconds since 1970-01-01 UTC; the hash of an address is another one every day.
    func storedForm(of address: String, now: Int64) -> String? {
        switch mode {
        case .none: nil
        case .truncated: Self.bytes(of: address).map(Self.truncated)
        case .hashed: hashes(of: address, now: now).first
        }
    }

    /// Nil where the text is no address.
    ///
    /// - Parameter now: milliseconds since 1970-01-01 UTC.
    func anonymized(of address: String, now: Int64) -> AnonymizedAddress? {
        let day = now / Self.day
        if let trace = known.withLock({ $0.day == day ? $0.traces[address] : nil }) { return trace }
        let hashes = hashes(of: address, now: now)
        guard let hash = hashes.first else { return nil }
        let trace = AnonymizedAddress(
            stored: storedForm(of: address, now: now), hash: hash, otherHashes: Array(hashes.dropFirst()),
            yesterdaysHashes: self.hashes(of: address, now: now - Self.day))
        known.withLock { known in
            if known.day != day || known.traces.count >= Self.capacity { known = (day, [:]) }
            known.traces[address] = trace
        }
        return trace
    }

    /// Keyed hashes of the address, whatever is kept of it: by the key in force, and by those before and after it, by which whoever came before
    /// a rotation is known, or to a replica that heard of it earlier. Empty where the text is no address. Of an IPv6 address its network (/64)
    /// counts: all of that is one client's, to change as often as it likes.
    ///
    /// - Parameter now: milliseconds since 1970-01-01 UTC; the hashes are others every day.
    private func hashes(of address: String, now: Int64) -> [String] {
        guard let bytes = Self.bytes(of: address) else { return [] }
        let day = withUnsafeBytes(of: (now / Self.day).bigEndian) { Array($0) }
        return keys.map { key in
            let code = HMAC<SHA256>.authenticationCode(for: day + (bytes.count == 4 ? bytes : Array(bytes.prefix(8))), using: key)
            return Hexadecimal.text(code.prefix(12))
        }
    }

    /// `192.0.2.0/24`, `2001:db8:1::/48`.
    private static func truncated(_ bytes: [UInt8]) -> String {
        bytes.count == 4
            ? text(bytes.prefix(3) + [0], AF_INET) + "/24"
            : text(bytes.prefix(6) + [UInt8](repeating: 0, count: 10), AF_INET6) + "/48"
    }

    /// Four or sixteen bytes; nil where the text is no address.
    static func bytes(of text: String) -> [UInt8]? {
        var four = [UInt8](repeating: 0, count: 4)
        if inet_pton(AF_INET, text, &four) == 1 { return four }
        var sixteen = [UInt8](repeating: 0, count: 16)
        guard inet_pton(AF_INET6, text, &sixteen) == 1 else { return nil }
        // ::ffff:192.0.2.1 is the IPv4 address.
        return sixteen.prefix(10).allSatisfy { $0 == 0 } && sixteen[10] == 0xFF && sixteen[11] == 0xFF ? Array(sixteen.suffix(4)) : sixteen
    }

    private static func text(_ bytes: ArraySlice<UInt8>, _ family: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { buffer in
            guard let start = buffer.baseAddress, inet_ntop(family, Array(bytes), start, socklen_t(buffer.count)) != nil else { return "" }
            return String(cString: start)
        }
    }
}
