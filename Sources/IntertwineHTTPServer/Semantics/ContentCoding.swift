internal import IntertwinePrimitives

enum ContentCoding { case identity, gzip }

extension RequestHead {
    /// True if a response is sent in gzip coding when available.
    public var acceptsGzip: Bool { coding(hasGzip: true) == .gzip }

    /// Returns the coding of the response by the Accept-Encoding fields (RFC 9110, 12.5.3); nil if neither coding is accepted.
    func coding(hasGzip: Bool) -> ContentCoding? {
        // The weights are in thousandths, nil if not given.
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
