internal import IntertwinePrimitives

/// The two codings that the server has.
enum ContentCoding { case identity, gzip }

extension RequestHead {
    /// Whether a response is sent in gzip coding if it is there.
    public var acceptsGzip: Bool { coding(hasGzip: true) == .gzip }

    /// The coding to answer in, by the Accept-Encoding fields (RFC 9110, 12.5.3); nil where neither is accepted.
    ///
    /// - Parameter hasGzip: whether there is such an answer. It is given to who wants it at least as much as the other one.
    func coding(hasGzip: Bool) -> ContentCoding? {
        // Weights in thousandths, nil where nothing was said.
        var (saidGzip, saidIdentity, star): (Int?, Int?, Int?)
        forEachValue(of: .acceptEncoding) { value in
            value.bytes.span.forEachWeightedMember { name, weight in
                guard let weight else { return true }
                if name.isEqualIgnoringCase("gzip") || name.isEqualIgnoringCase("x-gzip") {
                    saidGzip = max(saidGzip ?? 0, weight)
                } else if name.isEqualIgnoringCase("identity") {
                    saidIdentity = weight
                } else if name.isEqualIgnoringCase("*") {
                    star = weight
                }
                return true
            }
            return true
        }
        let gzip = saidGzip ?? star ?? 0
        let identity = saidIdentity ?? star
        if hasGzip, gzip > 0, gzip >= identity ?? 0 { return .gzip }
        return identity != 0 || gzip > 0 ? .identity : nil
    }
}
