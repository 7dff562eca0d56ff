internal import IntertwinePrimitives
internal import Synchronization

/// It is a class, because every cell of a page references it.
package final class CellTokens: Sendable {
    /// The number of milliseconds in an hour, the width of a token's bucket.
    private static let hour: Int64 = 3_600_000
    /// The maximum clock skew in milliseconds.
    package static let skew: Int64 = 300_000

    private let clicks: Signer
    private let impressions: Signer
    private let lifetime: Int64
    /// A lookup reveals nothing about other tokens, because dictionary hashes are seeded randomly.
    private let verified = Mutex(BoundedCache<ByteString, ImpressionToken>(limit: 2_048))

    package init(keys: SigningKeys, lifetime: Int64 = 24 * 3_600_000) {
        clicks = keys.signer(for: .click)
        impressions = keys.signer(for: .impression)
        self.lifetime = max(0, lifetime)
    }

    package enum Outcome: Sendable, Hashable {
        case valid(ImpressionToken)
        case expired(ImpressionToken)
        case forged
    }

    /// Returns the hour bucket of a time in milliseconds since 1970-01-01 UTC.
    package static func bucket(of now: Int64) -> UInt32 {
        UInt32(clamping: now / hour)
    }

    package static func startOfBucket(of now: Int64) -> Int64 {
        Int64(bucket(of: now)) * hour
    }

    package static func endOfBucket(of now: Int64) -> Int64 {
        (Int64(bucket(of: now)) + 1) * hour
    }

    package func click(cell: String, slot: Int, page: UInt32 = 0, impressionContext: ImpressionContext? = nil, now: Int64) -> String {
        clicks.sign(
            ImpressionToken(cell: cell, slot: slot, hour: Self.bucket(of: now), page: page, impressionContext: impressionContext).bytes)
    }

    package func impression(cell: String, slot: Int, page: UInt32 = 0, impressionContext: ImpressionContext? = nil, now: Int64) -> String {
        impressions.sign(
            ImpressionToken(cell: cell, slot: slot, hour: Self.bucket(of: now), page: page, impressionContext: impressionContext).bytes)
    }

    package func signed(_ token: ImpressionToken, asImpression: Bool, asClick: Bool) -> (impression: String, click: String) {
        let bytes = token.bytes
        return (asImpression ? impressions.sign(bytes) : "", asClick ? clicks.sign(bytes) : "")
    }

    /// Valid tokens are cached for a while, because many people follow one link.
    /// Mail and ad systems append to the link, also `&` without a query, so the token ends at the first character that it cannot have.
    func verifyClick(_ link: String, now: Int64) -> Outcome {
        let text = String(Substring(link.utf8.prefix(while: Self.isTokenByte)))
        if let token = verified.withLock({ $0[ByteString(text)] }) { return outcome(of: token, now: now) }
        guard let token = clicks.payload(of: text).flatMap(ImpressionToken.init(bytes:)) else { return .forged }
        verified.withLock { $0[ByteString(text)] = token }
        return outcome(of: token, now: now)
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    func verifyImpression(_ text: String, now: Int64) -> Outcome {
        guard let token = impressions.payload(of: text).flatMap(ImpressionToken.init(bytes:)) else { return .forged }
        return outcome(of: token, now: now)
    }

    /// Returns true if a token is too old to count, or of a future hour: its lifetime would end later than that of a token signed now.
    func isExpired(_ token: ImpressionToken, now: Int64) -> Bool {
        guard Int64(token.hour) * Self.hour <= now.addingReportingOverflow(Self.skew).partialValue else { return true }
        let (expiry, overflow) = ((Int64(token.hour) + 1) * Self.hour).addingReportingOverflow(lifetime)
        return !overflow && now >= expiry
    }

    private func outcome(of token: ImpressionToken, now: Int64) -> Outcome {
        isExpired(token, now: now) ? .expired(token) : .valid(token)
    }
}

/// The content of a click or impression token: the cell, the ad slot of the page, and the hour of signing.
/// Tokens contain the hour instead of the exact time. Why: a page assembled twice within the hour has equal bytes and can be cached.
package struct ImpressionToken: Sendable, Hashable {
    private static let formats: (short: UInt8, long: UInt8, shown: UInt8) = (1, 2, 3)

    package var cell: String
    package var slot: Int
    package var hour: UInt32
    package var page: UInt32 = 0
    package var impressionContext: ImpressionContext?

    /// For a slot served to a campaign, it is also independent of the replica, the number of items of the page and the layout. Why: the
    /// slot was served once.
    /// `cell`: The cell under which an impression of this one counts, because both share an ad slot; nil if this one has its own.
    package func impression(sharedWith cell: String?) -> String {
        var token = self
        if let cell {
            token.cell = cell
            token.impressionContext?.position = 0
        }
        if var impressionContext, impressionContext.campaign != nil {
            (impressionContext.served, impressionContext.position, impressionContext.layout) = (nil, 0, .collection)
            token.impressionContext = impressionContext
        }
        return Base64URL.encode(token.bytes)
    }

    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 32 + cell.utf8.count)
        let format = impressionContext != nil ? Self.formats.shown : page == 0 ? Self.formats.short : Self.formats.long
        writer.write(format)
        writer.write(hour)
        writer.write(UInt16(clamping: slot))
        if format != Self.formats.short { writer.write(page) }
        impressionContext?.write(to: &writer)
        writer.write(cell.utf8)
        return writer.bytes
    }
}

extension ImpressionToken {
    init?(bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard let format = reader.readByte(), (Self.formats.short...Self.formats.shown).contains(format), let hour = reader.readUInt32(),
            let slot = reader.readUInt16(), let page = format == Self.formats.short ? 0 : reader.readUInt32()
        else { return nil }
        var impressionContext: ImpressionContext?
        if format == Self.formats.shown {
            guard let read = ImpressionContext(&reader) else { return nil }
            impressionContext = read
        }
        guard let cell = String(validating: reader.remaining, as: UTF8.self), !cell.isEmpty else { return nil }
        self.init(cell: cell, slot: Int(slot), hour: hour, page: page, impressionContext: impressionContext)
    }
}
