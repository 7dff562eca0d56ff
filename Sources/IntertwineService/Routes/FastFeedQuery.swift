internal import IntertwineFeed
internal import IntertwinePrimitives

struct FastFeedQuery {
    private(set) var limit: Int?
    private(set) var cursor: String?

    init?(_ query: Span<UInt8>) {
        var start = 0
        while start < query.count {
            var end = start
            while end < query.count, query[end] != UInt8(ascii: "&") { end += 1 }
            guard read(query, start..<end) else { return nil }
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

    private static func value(_ target: Span<UInt8>, _ range: Range<Int>, of name: StaticString) -> Range<Int>? {
        let count = name.utf8CodeUnitCount
        guard range.count > count else { return nil }
        for index in 0..<count where target[range.lowerBound + index] != name.utf8Start[index] { return nil }
        return range.lowerBound + count..<range.upperBound
    }

    private static func isOfCursor(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
    }
}
