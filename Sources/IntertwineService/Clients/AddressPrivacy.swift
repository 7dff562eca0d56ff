internal import Glibc
internal import IntertwineFeed
internal import IntertwinePrimitives
internal import Synchronization

/// Anonymizes clients' addresses: the service never stores a full address.
/// A cache holds the results for recent addresses, so a click from a known address costs a lookup and no hash.
final class AddressPrivacy: Sendable {
    struct AnonymizedAddress {
        var stored: String?
        var hash: String
        var otherHashes: [String]
        var yesterdaysHashes: [String]
        /// The networks /56 and /48 of an IPv6 address, with the key of the day.
        var networkHashes: [String]
    }

    /// The milliseconds of a day.
    private static let day: Int64 = 86_400_000
    private static let capacity = 8_192

    private let mode: EventSettings.Address
    private let keys: [HMACSHA256]
    private let known = Mutex((day: Int64(0), traces: BoundedCache<String, AnonymizedAddress>(limit: capacity)))

    init(mode: EventSettings.Address, keys: SigningKeys) {
        self.mode = mode
        self.keys = keys.accepted.map { HMACSHA256(key: $0.derived(for: SigningPurpose(rawValue: "address"))) }
    }

    func storedForm(of address: String, now: Int64) -> String? {
        switch mode {
        case .none: nil
        case .truncated: Self.bytes(of: address).map(Self.truncated)
        case .hashed: hashes(of: address, now: now).first
        }
    }

    /// The forms on all days of a period, with each accepted key; of a stored form, the form itself.
    func storedForms(of address: String, in time: Range<Int64>) throws(UnusableAddress) -> [String] {
        guard let bytes = Self.bytes(of: address) else {
            guard Self.isStoredForm(address) else { throw .malformed }
            return [address]
        }
        switch mode {
        case .none: throw .notStored
        case .truncated: return [Self.truncated(bytes)]
        case .hashed:
            let days = stride(from: time.lowerBound, to: time.upperBound + Self.day - 1, by: Int(Self.day))
            return Set(days.flatMap { hashes(of: address, now: $0) }).sorted()
        }
    }

    enum UnusableAddress: String, Error {
        case notStored = "addresses are not stored, by events.address"
        case malformed = "must be an address, or its stored form as exports have it, such as 203.0.113.0/24"
    }

    private static func isStoredForm(_ text: String) -> Bool {
        if let hash = Hexadecimal.bytes(text), hash.count == 12 { return Hexadecimal.text(hash) == text }
        return bytes(of: String(text.prefix { $0 != "/" })).map(truncated) == text
    }

    func anonymized(of address: String, now: Int64) -> AnonymizedAddress? {
        let day = now / Self.day
        if let trace = known.withLock({ $0.day == day ? $0.traces[address] : nil }) { return trace }
        let hashes = hashes(of: address, now: now)
        guard let hash = hashes.first else { return nil }
        let trace = AnonymizedAddress(
            stored: storedForm(of: address, now: now), hash: hash, otherHashes: Array(hashes.dropFirst()),
            yesterdaysHashes: self.hashes(of: address, now: now - Self.day), networkHashes: networkHashes(of: address, now: now))
        known.withLock { known in
            if known.day != day { known = (day, BoundedCache(limit: Self.capacity)) }
            known.traces[address] = trace
        }
        return trace
    }

    /// Only the network (/64) of an IPv6 address is hashed, because one client controls all of it.
    private func hashes(of address: String, now: Int64) -> [String] {
        guard let bytes = Self.bytes(of: address) else { return [] }
        return keys.map { Self.hash(bytes.count == 4 ? bytes : Array(bytes.prefix(8)), $0, now: now) }
    }

    private func networkHashes(of address: String, now: Int64) -> [String] {
        guard let bytes = Self.bytes(of: address), bytes.count == 16, let key = keys.first else { return [] }
        return [7, 6].map { Self.hash(Array(bytes.prefix($0)), key, now: now) }
    }

    private static func hash(_ bytes: [UInt8], _ key: HMACSHA256, now: Int64) -> String {
        Hexadecimal.text(key.code(of: withUnsafeBytes(of: (now / day).bigEndian) { Array($0) } + bytes).prefix(12))
    }

    static func truncated(_ bytes: [UInt8]) -> String {
        bytes.count == 4
            ? text(bytes.prefix(3) + [0], AF_INET) + "/24"
            : text(bytes.prefix(6) + [UInt8](repeating: 0, count: 10), AF_INET6) + "/48"
    }

    static func bytes(of text: String) -> [UInt8]? {
        var four = [UInt8](repeating: 0, count: 4)
        if inet_pton(AF_INET, text, &four) == 1 { return four }
        var sixteen = [UInt8](repeating: 0, count: 16)
        guard inet_pton(AF_INET6, text, &sixteen) == 1 else { return nil }
        // An IPv4-mapped address such as ::ffff:192.0.2.1 is the IPv4 address.
        return sixteen.prefix(10).allSatisfy { $0 == 0 } && sixteen[10] == 0xFF && sixteen[11] == 0xFF ? Array(sixteen.suffix(4)) : sixteen
    }

    private static func text(_ bytes: ArraySlice<UInt8>, _ family: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { buffer in
            guard let start = buffer.baseAddress, inet_ntop(family, Array(bytes), start, socklen_t(buffer.count)) != nil else { return "" }
            return String(cString: start)
        }
    }
}
