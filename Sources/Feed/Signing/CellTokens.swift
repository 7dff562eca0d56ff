/// Mints and checks the tokens of clickthrough links and impressions.
///
/// A class, because every cell of a page refers to it.
public final class CellTokens: Sendable {
    /// Milliseconds in an hour, the width of a token's bucket.
    static let hour: Int64 = 3_600_000

    private let clicks: Signer
    private let impressions: Signer
    private let lifetime: Int64

    /// - Parameter lifetime: how long a token counts after its hour is over, in milliseconds.
    public init(keys: SigningKeys, lifetime: Int64 = 24 * 3_600_000) {
        clicks = keys.signer(for: .click)
        impressions = keys.signer(for: .impression)
        self.lifetime = max(0, lifetime)
    }

    /// What a token turned out to be.
    public enum Outcome: Sendable, Hashable {
        case valid(CellToken)
        /// Ours, but too old to count. Its cell is still known.
        case expired(CellToken)
        /// Damaged, or never ours.
        case forged
    }

    /// The hour bucket of a moment in milliseconds since 1970-01-01 UTC.
    public static func bucket(of now: Int64) -> UInt32 {
        UInt32(clamping: now / hour)
    }

    /// When the bucket of a moment ends: until then, the same cell in the same slot gets the same token.
    public static func endOfBucket(of now: Int64) -> Int64 {
        (Int64(bucket(of: now)) + 1) * hour
    }

    public func click(cell: String, slot: Int, now: Int64) -> String {
        clicks.sign(CellToken(cell: cell, slot: slot, hour: Self.bucket(of: now)).bytes)
    }

    public func impression(cell: String, slot: Int, now: Int64) -> String {
        impressions.sign(CellToken(cell: cell, slot: slot, hour: Self.bucket(of: now)).bytes)
    }

    public func verifyClick(_ text: some StringProtocol, now: Int64) -> Outcome {
        outcome(of: clicks.payload(of: text), now: now)
    }

    public func verifyImpression(_ text: some StringProtocol, now: Int64) -> Outcome {
        outcome(of: impressions.payload(of: text), now: now)
    }

    /// Whether a token is too old to count.
    func isExpired(_ token: CellToken, now: Int64) -> Bool {
        let (expiry, overflow) = ((Int64(token.hour) + 1) * Self.hour).addingReportingOverflow(lifetime)
        return !overflow && now >= expiry
    }

    private func outcome(of payload: [UInt8]?, now: Int64) -> Outcome {
        guard let payload, let token = CellToken(bytes: payload) else { return .forged }
        return isExpired(token, now: now) ? .expired(token) : .valid(token)
    }
}
