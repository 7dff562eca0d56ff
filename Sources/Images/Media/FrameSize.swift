/// How large a picture is once it is decoded.
struct FrameSize: Sendable, Hashable {
    /// 24 million: about 100 MB in a client's memory. A progressive JPEG needs its coefficients beside that.
    private static let mostPixels = 24_000_000
    private static let mostProgressivePixels = 12_000_000
    private static let longestSide = 12_000

    let width: Int
    let height: Int
    var isProgressive = false

    /// Why such a picture is not passed on: a few bytes that become gigabytes when they are drawn, or nothing at all.
    var fault: ImageFailure.Reason? {
        guard width > 0, height > 0 else { return .typeMismatch }
        // The sides come first: their product is then far from overflowing.
        guard max(width, height) <= Self.longestSide else { return .tooManyPixels }
        let most = isProgressive ? Self.mostProgressivePixels : Self.mostPixels
        return width * height <= most ? nil : .tooManyPixels
    }
}
