internal import Glibc
internal import IntertwinePrimitives

/// The value of the Date field, kept ready and renewed when the second changes.
final class DateStamp {
    private let text: UnsafeMutableRawBufferPointer
    private var scratch: [UInt8] = []
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
            scratch.removeAll(keepingCapacity: true)
            HTTPDate.append(now, to: &scratch)
            text.copyBytes(from: scratch)
        }
        return UnsafeRawBufferPointer(text)
    }
}
