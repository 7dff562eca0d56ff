internal import IntertwineFeed
internal import IntertwinePrimitives

/// The query of a simple page request: the exact path of a feed, optionally with a limit, a cursor, or both.
struct FastFeedQuery {
    private(set) var limit: Int?
    private(set) var cursor: String?

    /// Parses a target; nil for any other target, a repeated parameter or an invalid value. The general route reports such faults.
    init?(_ target: Span<UInt8>, of path: [UInt8]) {
        guard target.count >= path.count else { return nil }
        for index in path.indices where target[index] != path[index] { return nil }
        if target.count == path.count { return }
        guard target[path.count] == UInt8(ascii: "?") else { return nil }
        var start = path.count + 1
        while start <= target.count {
            var end = start
            while end < target.count, target[end] != UInt8(ascii: "&") { end += 1 }
            guard read(target, start..<end) else { return nil }
            start = end + 1
        }
    }

    private mutating func read(_ target: Span<UInt8>, _ range: Range<Int>) -> Bool {
        if let value = Self.value(target, range, of: "limit=") {
            guard limit == nil, value.count <= 3 else { return false }
            var number = 0
            for index in value {
                guard (0x30...0x39).contains(target[index]) else { return false }
                number = number * 10 + Int(target[index] - 0x30)
            }
            limit = number
            return FeedRequest.limits.contains(number)
        }
        guard cursor == nil, let value = Self.value(target, range, of: "cursor=") else { return false }
        for index in value where !Self.isOfCursor(target[index]) { return false }
        cursor = String(decoding: target.extracting(value))
        return true
    }

    /// Returns the range of the value of a parameter; nil if the parameter has another name or no value.
    private static func value(_ target: Span<UInt8>, _ range: Range<Int>, of name: StaticString) -> Range<Int>? {
        let count = name.utf8CodeUnitCount
        guard range.count > count else { return nil }
        for index in 0..<count where target[range.lowerBound + index] != name.utf8Start[index] { return nil }
        return range.lowerBound + count..<range.upperBound
    }

    /// Returns true for the characters of base64url.
    private static func isOfCursor(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
    }
}
