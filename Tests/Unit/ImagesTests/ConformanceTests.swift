import TestSupport
import Testing

@testable import IntertwineImages

/// What RFC 9111 and RFC 5861 ask of a shared cache, as far as it concerns GET and images, case by case against a real origin. Origins
/// are taken at their word here: nothing is fresh for longer than they say.
@Suite("Shared cache, case by case", .timeLimit(.untilStuck))
struct ConformanceTests {
    /// Whether the second request, so many seconds after the first, was answered from the cache.
    struct Case: Sendable, CustomStringConvertible {
        let fields: [String]
        var after: Int64 = 1
        let isReused: Bool

        init(_ isReused: Bool, _ fields: String..., after: Int64 = 1) {
            (self.fields, self.after, self.isReused) = (fields, after, isReused)
        }

        var description: String { "\(fields), \(after) s later" }
    }

    /// The origin's clock is the test's: 15 January 2027, 08:00:00 GMT.
    private static let date = "Date: Fri, 15 Jan 2027 08:00:00 GMT"
    private static let soon = "Fri, 15 Jan 2027 09:00:00 GMT"

    private static let control: [Case] = [
        Case(true, "Cache-Control: max-age=3600"), Case(false, "Cache-Control: max-age=3600", after: 3_600),
        Case(false, "Cache-Control: max-age=0"),
        Case(true, "Cache-Control: max-age=3600, foobar"), Case(true, "Cache-Control: foobar=\"a, b\", max-age=3600"),
        Case(true, "Cache-Control: MaX-aGe=3600"), Case(true, "Cache-Control: max-age=\"3600\""),
        Case(true, "Cache-Control: max-age=003600"),
        Case(false, "Cache-Control: foobar=\"max-age=3600\", max-age=1", after: 2),
        Case(false, "Cache-Control: max-age=1, foobar=\"max-age=3600\"", after: 2),
        Case(true, "Cache-Control: max-age=2147483647"), Case(true, "Cache-Control: max-age=2147483648"),
        Case(true, "Cache-Control: max-age=2147483649"),
        Case(true, "Cache-Control: max-age=99999999999999999999"), Case(false, "Cache-Control: max-age=-3600"),
        Case(false, "Cache-Control: max-age=3600x"), Case(false, "Cache-Control: max-age='3600'"),
        Case(false, "Cache-Control: max-age=36.00"),
        Case(false, "Cache-Control: max-age"), Case(false, "Cache-Control: max-age="), Case(true, "Cache-Control: ,, max-age=3600,"),
        Case(true, "Cache-Control: public", "Cache-Control: max-age=3600"), Case(false, "Cache-Control: max-age=1, max-age=3600"),
        Case(true, "Cache-Control: s-maxage=3600, max-age=1", after: 2), Case(true, "Cache-Control: max-age=1, s-maxage=3600", after: 2),
        Case(false, "Cache-Control: s-maxage=1, max-age=3600", after: 2),
        Case(false, "Cache-Control: s-maxage=1", "Expires: \(soon)", date, after: 2),
        Case(false, "Cache-Control: max-age=3600, s-maxage=1", after: 2),
        Case(false, "Cache-Control: max-age=3600", "Cache-Control: s-maxage=1", after: 2), Case(true, "Cache-Control: s-maxage=3600"),
        Case(true, "Cache-Control: max-age=0, s-maxage=3600", "Expires: Fri, 15 Jan 2027 07:59:50 GMT", date),
        Case(true, "Cache-Control: max-age=3600", "Expires: Fri, 15 Jan 2027 06:00:00 GMT", date),
        Case(true, "Cache-Control: s-maxage=3600", "Expires: 0"), Case(false, "Cache-Control: no-store"),
        Case(false, "Cache-Control: no-store, max-age=3600"), Case(false, "Cache-Control: No-StOrE", "Cache-Control: max-age=3600"),
        Case(false, "Cache-Control: no-cache"), Case(false, "Cache-Control: no-cache, max-age=3600"),
        Case(false, "Cache-Control: No-CaChE, max-age=3600"), Case(false, "Cache-Control: private, max-age=3600"),
        Case(true, "Cache-Control: no-store, must-understand, max-age=3600"), Case(true, "Cache-Control: must-revalidate, max-age=3600"),
        Case(false, "Cache-Control: must-revalidate, max-age=1", after: 2), Case(true, "Pragma: no-cache", "Cache-Control: max-age=3600"),
    ]

    private static let ages: [Case] = [
        Case(false, "Cache-Control: max-age=3600", "Age: 7200"), Case(true, "Cache-Control: max-age=3600", "Age: 60"),
        Case(false, "Cache-Control: max-age=3600", "Age: 60", after: 3_541), Case(true, "Cache-Control: max-age=3600", "Age: -7200"),
        Case(true, "Cache-Control: max-age=3600", "Age: abc"), Case(true, "Cache-Control: max-age=3600", "Age: 7200.0"),
        Case(false, "Cache-Control: max-age=3600", "Age: 2147483648"),
        Case(false, "Cache-Control: max-age=3600", "Age: 99999999999999999999"),
        Case(false, "Cache-Control: max-age=3600", "Age: 7200, 0"), Case(false, "Cache-Control: max-age=3600", "Age: 7200", "Age: 0"),
        Case(true, "Cache-Control: max-age=3600", "Age: 0", "Age: 7200"),
        Case(false, "Cache-Control: max-age=3600", "Date: Fri, 15 Jan 2027 05:00:00 GMT"),
        Case(true, "Cache-Control: max-age=3600", "Date: Fri, 15 Jan 2027 07:30:00 GMT"),
        Case(true, "Cache-Control: max-age=3600", "Date: nonsense"),
    ]

    private static let expiries: [Case] = [
        Case(true, "Expires: \(soon)", date), Case(true, "Expires: \(soon)"), Case(false, "Expires: \(soon)", date, after: 3_600),
        Case(false, "Expires: Fri, 15 Jan 2027 07:00:00 GMT", date), Case(false, "Expires: \(date.dropFirst(6))", date),
        Case(false, "Expires: 0", date),
        Case(false, "Expires: 3600", date), Case(false, "Expires:", date), Case(false, "Expires: \(soon)", "Expires: 0", date),
        Case(true, "Expires: Friday, 15-Jan-27 09:00:00 GMT", date), Case(true, "Expires: Fri Jan 15 09:00:00 2027", date),
        Case(true, "Expires: FRI, 15 Jan 2027 09:00:00 GMT", date), Case(true, "Expires: Fri, 15 jAN 2027 09:00:00 GMT", date),
        Case(true, "Expires: Fri, 15 Jan 2027 09:00:00 gMT", date), Case(false, "Expires: Fri, 15 Jan 2027 09:00:00 AEST", date),
        Case(false, "Expires: Fri, 15 Jan 2027 09:00:00 UTC", date), Case(false, "Expires: Fri, 15 Jan 27 09:00:00 GMT", date),
        Case(false, "Expires: Fri, 15 Jan 2027 9:00:00 GMT", date), Case(false, "Expires: Fri 15 Jan 2027 09:00:00 GMT", date),
        Case(false, "Expires: Fri, 15  Jan 2027 09:00:00 GMT", date), Case(false, "Expires: Fri, 15-Jan-2027 09:00:00 GMT", date),
        Case(false, "Expires: Fri, 15 Jan 2027 09.00.00 GMT", date), Case(false, "Expires: Fri, 32 Jan 2027 09:00:00 GMT", date),
        Case(true, "Expires: 0", "Cache-Control: max-age=3600"), Case(false, "Expires: \(soon)", "Cache-Control: max-age=0", date),
        Case(false, "Expires: \(soon)", "Date: Fri, 15 Jan 2027 10:00:00 GMT"), Case(true, "Expires: \(soon)", "Date: nonsense"),
        Case(false, "Expires: Fri, 15 Jan 2027 08:00:10 GMT", "Date: Fri, 15 Jan 2027 07:59:50 GMT", "Age: 25", after: 0),
        Case(false, "Expires: Fri, 15 Jan 2027 08:00:20 GMT", "Date: Fri, 15 Jan 2027 08:00:10 GMT", "Age: 15", after: 0),
        Case(true, "Last-Modified: Thu, 14 Jan 2027 08:00:00 GMT", date, after: 8_600),
        Case(false, "Last-Modified: Thu, 14 Jan 2027 08:00:00 GMT", date, after: 8_700),
    ]

    private static let varying: [Case] = [
        Case(false, "Vary: *", "Cache-Control: max-age=3600"), Case(false, "Vary: Foo, *", "Cache-Control: max-age=3600"),
        Case(true, "Vary: Cookie", "Cache-Control: max-age=3600"), Case(true, "Vary: Accept", "Cache-Control: max-age=3600"),
        Case(true, "Vary: Accept-Encoding, cookie", "Cache-Control: max-age=3600"),
        Case(true, "Vary: Origin", "Vary: Authorization", "Cache-Control: max-age=3600"),
        Case(true, "Vary: ACCEPT-Encoding , user-agent", "Cache-Control: max-age=3600"),
        Case(true, "Vary: Accept", "Vary: Foo", "Cache-Control: max-age=3600"),
    ]

    /// What is stale, and the second answer 500: whether the first stands in.
    private static let failing: [Case] = [
        Case(false, "Cache-Control: max-age=1", after: 2), Case(true, "Cache-Control: max-age=1, stale-if-error=60", after: 2),
        Case(false, "Cache-Control: max-age=1, stale-if-error=60", after: 61),
        Case(false, "Cache-Control: max-age=1, stale-if-error=60", "Age: 61", after: 2),
        Case(false, "Cache-Control: max-age=1, stale-if-error=60, must-revalidate", after: 2),
        Case(false, "Cache-Control: max-age=1, stale-if-error=60, proxy-revalidate", after: 2),
        Case(false, "Cache-Control: max-age=1, stale-if-error=60, no-cache", after: 2),
        Case(false, "Cache-Control: s-maxage=1, stale-if-error=60", after: 2),
        Case(true, "Cache-Control: max-age=1, stale-while-revalidate=60", after: 2),
        Case(false, "Cache-Control: max-age=1, stale-while-revalidate=60", after: 62),
    ]

    private func isReused(_ each: Case, second: @escaping @Sendable (OriginConnection) -> Void) async throws -> Bool {
        let origin = try Origin { request, connection in
            if connection.number == 1 {
                connection.answer(200, each.fields + ["Content-Type: image/png", "Connection: close"], body: TestImage.png(1))
            } else {
                second(connection)
            }
            connection.finish()
        }
        defer { origin.stop() }
        let house = try House([origin]) { $0.freshness.minTTL = 0 }
        #expect(try await house.get(origin.url("/a.png")).body == TestImage.png(1))
        house.pass(each.after)
        let again = try await house.get(origin.url("/a.png"))
        await house.stop()
        return again.body == TestImage.png(1)
    }

    @Test("Only fresh responses are reused", arguments: control + ages + expiries + varying)
    func fresh(_ each: Case) async throws {
        let isReused = try await isReused(each) { $0.answer(200, ["Content-Type: image/png"], body: TestImage.png(2)) }
        #expect(isReused == each.isReused, "\(each)")
    }

    @Test("Stale responses are served only if permitted", arguments: failing)
    func stale(_ each: Case) async throws {
        #expect(try await isReused(each) { $0.answer(500) } == each.isReused, "\(each)")
        #expect(try await isReused(each) { $0.reset() } == each.isReused, "\(each)")
    }
}
