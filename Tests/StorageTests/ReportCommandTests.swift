import IntertwineLedger
import Testing

@Suite("Questions of reports, and sketches of viewers")
struct ReportCommandTests {
    @Test("sketches tell few exactly, many within their error, and are kept as they are", arguments: [0, 1, 10, 1_000, 50_000, 300_000])
    func sketch(count: Int) {
        var (sketch, half) = (UniqueViewersSketch(), UniqueViewersSketch())
        for number in 0..<count {
            sketch.insert("viewer-\(number)")
            if number.isMultiple(of: 2) { half.insert("viewer-\(number)") }
        }
        let error = Double(count) * 3 * UniqueViewersSketch.error
        #expect(abs(Double(sketch.estimate - count)) <= (count < 100 ? 0 : error), "\(sketch.estimate)")
        #expect(UniqueViewersSketch(sketch.bytes) == sketch && sketch.bytes.count <= 16_384)
        half.merge(sketch)
        #expect(half == sketch)
        #expect(UniqueViewersSketch([255, 255, 1]) == nil && UniqueViewersSketch([1]) == nil)
    }

    @Test(
        "Invalid queries are rejected",
        arguments: [
            (LedgerReport.Grouping.day, LedgerReport.Grouping.day, false), (.verdict, .day, false), (.day, .verdict, false),
            (.ad, .feed, true), (.hour, .day, true),
        ])
    func faults(by: LedgerReport.Grouping, and: LedgerReport.Grouping, viewers: Bool) {
        #expect(LedgerReport.Query(days: 0...1, by: by, and: and, countsViewers: viewers).error != nil)
    }
}
