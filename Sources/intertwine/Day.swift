import ArgumentParser
import Foundation

/// A day in UTC, written `2026-11-21`.
struct Day: ExpressibleByArgument {
    /// Days since 1970-01-01.
    let number: Int

    init(number: Int) {
        self.number = number
    }

    init?(argument: String) {
        // Reading is lenient: the 30th of February would be the 2nd of March.
        guard let date = try? Date(argument, strategy: Self.style), date.formatted(Self.style) == argument else { return nil }
        number = Int((date.timeIntervalSince1970 / 86_400).rounded(.down))
    }

    static var today: Day { Day(number: Int((Date().timeIntervalSince1970 / 86_400).rounded(.down))) }

    var text: String { Date(timeIntervalSince1970: Double(number) * 86_400).formatted(Self.style) }

    private static var style: Date.ISO8601FormatStyle { .iso8601.year().month().day() }
}
