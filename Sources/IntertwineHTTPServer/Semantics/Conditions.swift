internal import IntertwinePrimitives

/// Conditional requests for a representation that is there (RFC 9110, 13.2.2).
enum Conditions {
    enum Outcome { case met, notModified, failed }

    /// For GET and HEAD: If-Match, else If-Unmodified-Since; then If-None-Match, else If-Modified-Since.
    static func evaluate(_ head: borrowing RequestHead, entityTag: [UInt8]?, lastModified: Int64?) -> Outcome {
        let seen = head.parser.seen
        if seen & KnownField.ifMatch.bit != 0 {
            guard names(head, .ifMatch, entityTag, strongly: true) else { return .failed }
        } else if seen & KnownField.ifUnmodifiedSince.bit != 0, let date = date(head, .ifUnmodifiedSince), let lastModified {
            guard lastModified <= date else { return .failed }
        }
        if seen & KnownField.ifNoneMatch.bit != 0 {
            return names(head, .ifNoneMatch, entityTag, strongly: false) ? .notModified : .met
        }
        if seen & KnownField.ifModifiedSince.bit != 0, let date = date(head, .ifModifiedSince), let lastModified {
            return lastModified <= date ? .notModified : .met
        }
        return .met
    }

    /// Whether If-Range, where it is there, lets the range through: only a strong tag or the very date does.
    static func allowRange(_ head: borrowing RequestHead, entityTag: [UInt8]?, lastModified: Int64?) -> Bool {
        guard head.parser.seen & KnownField.ifRange.bit != 0 else { return true }
        let value = head.parser.value(of: .ifRange, in: head.bytes)
        if value[0] == .quote { return entityTag.map(value.isEqual) ?? false }
        guard let lastModified, let date = HTTPDate.parse(value.bytes, now: DateStamp.currentSecond()) else { return false }
        return date == lastModified
    }

    private static func names(_ head: borrowing RequestHead, _ known: KnownField, _ entityTag: [UInt8]?, strongly: Bool) -> Bool {
        for field in head.parser.fields where field.known == known {
            if EntityTags.list(head.parser.value(field, in: head.bytes), names: entityTag, strongly: strongly) { return true }
        }
        return false
    }

    private static func date(_ head: borrowing RequestHead, _ known: KnownField) -> Int64? {
        HTTPDate.parse(head.parser.value(of: known, in: head.bytes).bytes, now: DateStamp.currentSecond())
    }
}
