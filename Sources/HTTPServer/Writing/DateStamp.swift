internal import Glibc

/// The value of the Date field, kept ready and renewed when the second changes.
final class DateStamp {
    private let text: UnsafeMutableRawBufferPointer
    private var second: Int64 = .min

    init() {
        text = .allocate(byteCount: HTTPDate.length, alignment: 1)
    }

    deinit {
        text.deallocate()
    }

    /// The current second since 1970.
    static func currentSecond() -> Int64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME_COARSE, &now)
        return Int64(now.tv_sec)
    }

    /// Twenty-nine bytes, valid until the next call.
    func current() -> UnsafeRawBufferPointer {
        let now = Self.currentSecond()
        if now != second {
            second = now
            HTTPDate.write(now, into: text)
        }
        return UnsafeRawBufferPointer(text)
    }
}
