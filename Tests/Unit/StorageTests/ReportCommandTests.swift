import Testing

@testable import IntertwineFeed

@Suite("Questions of reports")
struct ReportCommandTests {
    @Test(
        "Invalid queries are rejected",
        arguments: [
            (LedgerReport.Grouping.day, LedgerReport.Grouping.day), (.verdict, .day), (.day, .verdict), (.day, .choice),
        ])
    func faults(by: LedgerReport.Grouping, and: LedgerReport.Grouping) {
        #expect(LedgerReport.Query(days: 0...1, by: by, and: and).error != nil)
    }
}
