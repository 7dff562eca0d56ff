internal import Glibc

/// Writes the time of day, `2026-11-21T09:00:00.123Z`; the part up to the second is made once a second.
struct TimeStamp {
    private var second: Int = .min
    private var prefix: [UInt8] = []

    /// Appends the time that it is now.
    mutating func append(to bytes: inout [UInt8]) {
        let milliseconds = Int(WallClock.now())
        if milliseconds / 1_000 != second {
            second = milliseconds / 1_000
            var parts = tm()
            gmtime_r(&second, &parts)
            prefix.removeAll(keepingCapacity: true)
            Self.append(Int(parts.tm_year) + 1_900, digits: 4, to: &prefix)
            for (separator, value) in [
                ("-", parts.tm_mon + 1), ("-", parts.tm_mday), ("T", parts.tm_hour), (":", parts.tm_min), (":", parts.tm_sec),
            ] as [(String, Int32)] {
                prefix += separator.utf8
                Self.append(Int(value), digits: 2, to: &prefix)
            }
            prefix.append(UInt8(ascii: "."))
        }
        bytes += prefix
        Self.append(milliseconds % 1_000, digits: 3, to: &bytes)
        bytes.append(UInt8(ascii: "Z"))
    }

    private static func append(_ number: Int, digits: Int, to bytes: inout [UInt8]) {
        var power = 1
        for _ in 1..<digits { power *= 10 }
        while power > 0 {
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / power % 10))
            power /= 10
        }
    }
}
