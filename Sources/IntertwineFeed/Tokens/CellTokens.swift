internal import IntertwinePrimitives
internal import Synchronization

/// Mints and checks the tokens of clickthrough links and impressions.
///
/// A class, because every cell of a page refers to it.
public final class CellTokens: Sendable {
    /// Milliseconds in an hour, the width of a token's bucket.
    private static let hour: Int64 = 3_600_000
    /// How far two clocks may be apart, in milliseconds: a token of an hour that begins later than that was minted by a clock that was wrong.
    static let skew: Int64 = 300_000

    private let clicks: Signer
    private let impressions: Signer
    private let lifetime: Int64
    private let verified = VerifiedTokenCache()

    /// - Parameter lifetime: how long a token counts after its hour is over, in milliseconds.
    public init(keys: SigningKeys, lifetime: Int64 = 24 * 3_600_000) {
        clicks = keys.signer(for: .click)
        impressions = keys.signer(for: .impression)
        self.lifetime = max(0, lifetime)
    }

    /// What a token turned out to be.
    package enum Outcome: Sendable, Hashable {
        case valid(ImpressionToken)
        /// Ours, but too old to count, or of a time to come. Its cell is still known.
        case expired(ImpressionToken)
        /// Damaged, or never ours.
        case forged
    }

    /// The hour bucket of a moment in milliseconds since 1970-01-01 UTC.
    public static func bucket(of now: Int64) -> UInt32 {
        UInt32(clamping: now / hour)
    }

    /// When the bucket of a moment begins.
    public static func startOfBucket(of now: Int64) -> Int64 {
        Int64(bucket(of: now)) * hour
    }

    /// When the bucket of a moment ends: until then, the same cell in the same slot gets the same token.
    public static func endOfBucket(of now: Int64) -> Int64 {
        (Int64(bucket(of: now)) + 1) * hour
    }

    /// - Parameters:
    ///   - page: tells the page from others; 0 where there is none.
    ///   - showing: where on it the cell stands.
    public func click(cell: String, slot: Int, page: UInt32 = 0, showing: ImpressionContext? = nil, now: Int64) -> String {
        clicks.sign(ImpressionToken(cell: cell, slot: slot, hour: Self.bucket(of: now), page: page, showing: showing).bytes)
    }

    /// - Parameter page: tells the page from others: the same cell on two pages is two impressions.
    public func impression(cell: String, slot: Int, page: UInt32 = 0, showing: ImpressionContext? = nil, now: Int64) -> String {
        impressions.sign(ImpressionToken(cell: cell, slot: slot, hour: Self.bucket(of: now), page: page, showing: showing).bytes)
    }

    /// Both tokens of a cell, which say the same; empty where one is not asked for.
    func signed(_ token: ImpressionToken, asImpression: Bool, asClick: Bool) -> (impression: String, click: String) {
        let bytes = token.bytes
        return (asImpression ? impressions.sign(bytes) : "", asClick ? clicks.sign(bytes) : "")
    }

    /// Many people follow one link: each that was found to be ours is remembered for a while.
    package func verifyClick(_ text: String, now: Int64) -> Outcome {
        if let token = verified.token(text) { return outcome(of: token, now: now) }
        guard let token = clicks.payload(of: text).flatMap(ImpressionToken.init(bytes:)) else { return .forged }
        verified.store(token, of: text)
        return outcome(of: token, now: now)
    }

    package func verifyImpression(_ text: some StringProtocol, now: Int64) -> Outcome {
        guard let token = impressions.payload(of: text).flatMap(ImpressionToken.init(bytes:)) else { return .forged }
        return outcome(of: token, now: now)
    }

    /// Whether a token is too old to count, or of an hour that has not come: its time would end later than that of one that is minted now.
    func isExpired(_ token: ImpressionToken, now: Int64) -> Bool {
        guard Int64(token.hour) * Self.hour <= now.addingReportingOverflow(Self.skew).partialValue else { return true }
        let (expiry, overflow) = ((Int64(token.hour) + 1) * Self.hour).addingReportingOverflow(lifetime)
        return !overflow && now >= expiry
    }

    private func outcome(of token: ImpressionToken, now: Int64) -> Outcome {
        isExpired(token, now: now) ? .expired(token) : .valid(token)
    }
}

/// The texts of late that were found to be ours, with what they say: good for as long as the keys that signed them, as they are kept beside those.
///
/// Who looks for a text learns no more of another one than that it is not the same: the order of a dictionary is of random numbers.
private final class VerifiedTokenCache: Sendable {
    /// When there are more, all are forgotten.
    private static let capacity = 1_024

    private let known = Mutex<[ByteString: ImpressionToken]>([:])

    func token(_ text: String) -> ImpressionToken? { known.withLock { $0[ByteString(text)] } }

    func store(_ token: ImpressionToken, of text: String) {
        known.withLock { known in
            if known.count >= Self.capacity { known = [:] }
            known[ByteString(text)] = token
        }
    }
}

/// What a click or impression token says: which cell, in which advertisement slot of which page, minted in which hour.
///
/// Bound to an hour and not to a moment, so that a page made twice within the hour has the same bytes and can be cached.
package struct ImpressionToken: Sendable, Hashable {
    /// Without a page, with one, and with where on it the cell stands.
    private static let formats: (short: UInt8, long: UInt8, shown: UInt8) = (1, 2, 3)

    package var cell: String
    /// The index within the page's advertisements; 0 for content.
    package var slot: Int
    /// Hours since 1970-01-01 UTC.
    package var hour: UInt32
    /// Tells the page from the others of the hour, by where its content begins; 0 where there is none.
    package var page: UInt32
    /// Where on the page the cell stands; nil where that is not known.
    package var showing: ImpressionContext?

    package init(cell: String, slot: Int, hour: UInt32, page: UInt32 = 0, showing: ImpressionContext? = nil) {
        self.cell = cell
        self.slot = slot
        self.hour = hour
        self.page = page
        self.showing = showing
    }

    /// By what the impression is counted that the token is about, and known to a click: the same whichever key signed it. Of a place that was
    /// given to a campaign it is the same whichever process gave it, and however many items the page has and in whichever layout: it was given
    /// once.
    var impression: String {
        var token = self
        if var showing, showing.campaign != nil {
            (showing.reservation, showing.ends, showing.position, showing.layout) = (nil, nil, 0, .collection)
            token.showing = showing
        }
        return Base64URL.encode(token.bytes)
    }

    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 32 + cell.utf8.count)
        let format = showing != nil ? Self.formats.shown : page == 0 ? Self.formats.short : Self.formats.long
        writer.write(format)
        writer.write(hour)
        writer.write(UInt16(clamping: slot))
        if format != Self.formats.short { writer.write(page) }
        showing?.write(to: &writer)
        writer.write(cell.utf8)
        return writer.bytes
    }

    init?(bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard let format = reader.readByte(), (Self.formats.short...Self.formats.shown).contains(format), let hour = reader.readUInt32(),
            let slot = reader.readUInt16(), let page = format == Self.formats.short ? 0 : reader.readUInt32()
        else { return nil }
        var showing: ImpressionContext?
        if format == Self.formats.shown {
            guard let read = ImpressionContext(&reader) else { return nil }
            showing = read
        }
        guard let cell = String(validating: reader.remaining, as: UTF8.self), !cell.isEmpty else { return nil }
        self.init(cell: cell, slot: Int(slot), hour: hour, page: page, showing: showing)
    }
}
