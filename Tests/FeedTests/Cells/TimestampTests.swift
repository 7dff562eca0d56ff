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
        for moment in [0, 41, 999, -1, 1_795_285_041_543, 951_782_400_001] as [Int64] {
            let text = Timestamp.exactText(milliseconds: moment)
            #expect(text.dropLast(5) == Timestamp.text(milliseconds: moment).dropLast())
            #expect(text.suffix(4) == String(String(1_000 + (moment % 1_000 + 1_000) % 1_000).dropFirst()) + "Z")
        }
        #expect(Timestamp.exactText(milliseconds: 1_795_285_041_543) == "2026-11-21T18:17:21.543Z")
        #expect(Timestamp.exactText(milliseconds: .max) == "9999-12-31T23:59:59.999Z")
        #expect(Timestamp.text(milliseconds: .max) == "9999-12-31T23:59:59Z")
        #expect(Timestamp.text(milliseconds: .min) == "0000-01-01T00:00:00Z")
    }
}
