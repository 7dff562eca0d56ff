import Foundation
import TestSupport
import Testing

@testable import Feed

@Suite("Timestamps")
struct TimestampTests {
    @Test("are the RFC 3339 spelling of the moment, leap days and the time before 1970 included")
    func againstFoundation() {
        var random = SeededRandom(seed: 1)
        let moments: [Int64] = [0, -1, 999, 951_782_400_000, 4_107_542_399_999, 253_402_300_799_999, -2_203_891_200_000]
        let style = Date.ISO8601FormatStyle()
        for moment in moments + (0..<2_000).map({ _ in .random(in: -2_000_000_000_000...253_000_000_000_000, using: &random) }) {
            let seconds = (Double(moment) / 1000).rounded(.down)
            #expect(Timestamp.text(milliseconds: moment) == style.format(Date(timeIntervalSince1970: seconds)))
        }
        #expect(Timestamp.text(milliseconds: .max) == "9999-12-31T23:59:59Z")
        #expect(Timestamp.text(milliseconds: .min) == "0000-01-01T00:00:00Z")
    }
}
