internal import IntertwineFetch
internal import IntertwinePrimitives

/// What an origin's fields say about time.
enum OriginDates {
    /// `Last-Modified`, where it tells one version from another for sure (RFC 9110 §8.8.2.2): it was a second old by the origin's own clock.
    /// What changes twice within a second has the same date both times.
    ///
    /// - Parameter now: seconds since 1970-01-01 UTC.
    static func strongModification(_ headers: FetchHeaders, now: Int) -> String? {
        guard let field = headers["last-modified"], let modified = HTTPDate.parse(field, now: Int64(now)),
            let date = headers["date"].flatMap({ HTTPDate.parse($0, now: Int64(now)) }), date - modified >= 1
        else { return nil }
        return field
    }

    /// `Retry-After` (RFC 9110 §10.2.3): how long to wait; nil for what is neither a number of seconds nor a date.
    ///
    /// - Parameter now: seconds since 1970-01-01 UTC.
    static func pause(_ field: String, now: Int) -> Duration? {
        if (1...10).contains(field.utf8.count), field.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return Int64(field).map { .seconds($0) }
        }
        return HTTPDate.parse(field, now: Int64(now)).map { .seconds(max(0, $0 - Int64(now))) }
    }
}
