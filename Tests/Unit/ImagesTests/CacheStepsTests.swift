import Synchronization
import TestSupport
import Testing

@testable import IntertwineImages

/// What RFC 9111 asks of a shared cache beyond one reuse: how it asks again, what a confirmation changes, what it tells, and what it must
/// not mix up. Each case is a row of requests for one image at an origin that is taken at its word.
@Suite("Shared cache, step by step", .timeLimit(.untilStuck))
struct CacheStepsTests {
    enum Asked: Sendable, Equatable {
        /// The origin hears nothing of the request.
        case not
        /// It is asked, under these conditions and no others.
        case with([String])

        static let anew = Asked.with([])
    }

    struct Step: Sendable {
        /// Seconds since the step before.
        var after: Int64 = 0
        var path = "/a.png"
        var accept: String?
        let asked: Asked
        /// What the origin answers, where it is asked.
        var status = 200
        var fields: [String] = []
        /// The image that the client gets.
        let shows: Int
        /// Fields that the answer has, and those that it has not (nil).
        var tells: [String: String?] = [:]

        static func first(_ fields: String..., tells: [String: String?] = [:]) -> Step {
            Step(asked: .anew, fields: fields, shows: 1, tells: tells)
        }

        static func reused(after: Int64 = 1, _ shows: Int = 1, tells: [String: String?] = [:]) -> Step {
            Step(after: after, asked: .not, shows: shows, tells: tells)
        }

        /// Asked about, and confirmed by 304.
        static func confirmed(after: Int64 = 2, if conditions: String..., by fields: [String] = [], tells: [String: String?] = [:]) -> Step
        {
            Step(after: after, asked: .with(conditions), status: 304, fields: fields, shows: 1, tells: tells)
        }

        static func replaced(after: Int64 = 2, if conditions: [String] = [], by number: Int = 2, _ fields: String...) -> Step {
            Step(after: after, asked: .with(conditions), fields: fields, shows: number)
        }
    }

    struct Case: Sendable, CustomStringConvertible {
        let section: String
        let says: String
        let steps: [Step]

        init(_ section: String, _ says: String, _ steps: Step...) { (self.section, self.says, self.steps) = (section, says, steps) }

        var description: String { "RFC 9111, \(section): \(says)" }
    }

    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let (isTagged, isDated) = ("if-none-match: \"1\"", "if-modified-since: \(date)")
    private static let short = "Cache-Control: max-age=1"
    private static let long = "Cache-Control: max-age=3600"

    /// Which conditions the origin is asked under (section 4.3.1), and what is done with its answer (4.3.3).
    private static let asking: [Case] = [
        Case("4.3.1", "a strong tag", .first(short, "ETag: \"1\""), .confirmed(if: isTagged)),
        Case("4.3.1", "a weak tag", .first(short, "ETag: W/\"1\""), .confirmed(if: "if-none-match: W/\"1\"")),
        Case("4.3.1", "an empty tag", .first(short, "ETag: \"\""), .confirmed(if: "if-none-match: \"\"")),
        Case("4.3.1", "a date of change", .first(short, "Last-Modified: \(date)"), .confirmed(if: isDated)),
        Case("4.3.1", "both", .first(short, "ETag: \"1\"", "Last-Modified: \(date)"), .confirmed(if: isTagged, isDated)),
        Case("4.3.1", "neither: asked for anew", .first(short), .replaced()),
        Case("4.3.1", "what is fresh is not asked about", .first(long, "ETag: \"1\""), .reused()),
        Case("4.3.3", "another image takes the place", .first(short, "ETag: \"1\""), .replaced(if: [isTagged], long), .reused(2)),
        Case(
            "4.3.3", "another image's validators count from then on", .first(short, "ETag: \"1\""),
            .replaced(if: [isTagged], short, "ETag: \"2\""), .replaced(if: ["if-none-match: \"2\""], by: 3)),
        Case(
            "5.2.2.4", "no-cache: stored, and asked about each time", .first("Cache-Control: no-cache", "ETag: \"1\""),
            .confirmed(after: 0, if: isTagged), .confirmed(after: 0, if: isTagged)),
        Case(
            "5.2.2.4", "no-cache: however long it is fresh", .first("Cache-Control: max-age=3600, no-cache", "ETag: \"1\""),
            .confirmed(after: 0, if: isTagged)),
        Case(
            "5.2.2.4", "no-cache with fields counts as without", .first("Cache-Control: max-age=3600, no-cache=\"a, b\"", "ETag: \"1\""),
            .confirmed(after: 0, if: isTagged)),
        Case(
            "5.2.2.2", "must-revalidate: reused while fresh, asked about then",
            .first("Cache-Control: max-age=10, must-revalidate", "ETag: \"1\""), .reused(), .confirmed(after: 10, if: isTagged)),
        Case(
            "5.2.2.8", "proxy-revalidate: the same", .first("Cache-Control: max-age=10, proxy-revalidate", "ETag: \"1\""), .reused(),
            .confirmed(after: 10, if: isTagged)),
        Case(
            "5.2.3", "immutable: asked about once stale", .first("Cache-Control: max-age=1, immutable", "ETag: \"1\""),
            .confirmed(if: isTagged)),
    ]

    /// What a 304 changes of what is stored (sections 3.2 and 4.3.4).
    private static let confirming: [Case] = [
        Case("3.2", "a longer life", .first(short, "ETag: \"1\""), .confirmed(if: isTagged, by: [long]), .reused(after: 3_599)),
        Case(
            "3.2", "it is told at once, and when reused", .first(short, "ETag: \"1\"", tells: ["Cache-Control": "public, max-age=1"]),
            .confirmed(if: isTagged, by: [long], tells: ["Cache-Control": "public, max-age=3600"]),
            .reused(tells: ["Cache-Control": "public, max-age=3600"])),
        Case(
            "3.2", "a later end", .first("Expires: Fri, 15 Jan 2027 08:00:01 GMT", "ETag: \"1\""),
            .confirmed(if: isTagged, by: ["Expires: Fri, 15 Jan 2027 09:00:00 GMT"]), .reused(after: 3_000)),
        Case(
            "3.2", "what is not said stays as it was", .first("Cache-Control: max-age=10", "ETag: \"1\""),
            .confirmed(after: 11, if: isTagged), .reused(after: 9), .confirmed(after: 2, if: isTagged)),
        Case(
            "3.2", "from now on asked about each time", .first(short, "ETag: \"1\""),
            .confirmed(if: isTagged, by: ["Cache-Control: no-cache"]), .confirmed(after: 0, if: isTagged)),
        Case(
            "3.2", "from now on not to be stored", .first(short, "ETag: \"1\""),
            .confirmed(if: isTagged, by: ["Cache-Control: no-store"], tells: ["Cache-Control": "no-store"]), .replaced(after: 0)),
        Case(
            "3.2", "from now on for one reader alone", .first(short, "ETag: \"1\""),
            .confirmed(if: isTagged, by: ["Cache-Control: private, max-age=3600"]), .replaced(after: 0)),
        Case(
            "3.2", "from now on another one for each", .first(short, "ETag: \"1\""),
            .confirmed(if: isTagged, by: [long, "Vary: *"]), .replaced(after: 0)),
        Case(
            "3.2", "a later change is told, and asked with", .first(short, "Last-Modified: \(date)", tells: ["Last-Modified": date]),
            .confirmed(
                if: isDated, by: ["Last-Modified: Sun, 06 Nov 1994 09:00:00 GMT"], tells: ["Last-Modified": "Sun, 06 Nov 1994 09:00:00 GMT"]
            ),
            .confirmed(if: "if-modified-since: Sun, 06 Nov 1994 09:00:00 GMT")),
        Case(
            "4.3.4", "the same strong tag confirms", .first(short, "ETag: \"1\""), .confirmed(if: isTagged, by: [long, "ETag: \"1\""]),
            .reused()),
        Case(
            "4.3.4", "a weak tag confirms, and is asked with", .first(short, "ETag: W/\"1\""),
            .confirmed(if: "if-none-match: W/\"1\"", by: [short, "ETag: W/\"2\""]), .confirmed(if: "if-none-match: W/\"2\"")),
        Case(
            "4.2.3", "its age counts", .first(short, "ETag: \"1\""),
            .confirmed(if: isTagged, by: ["Cache-Control: max-age=100", "Age: 60"]),
            .reused(after: 39), .confirmed(after: 2, if: isTagged)),
    ]

    /// What is told of a stored answer, and what is not (sections 3.1, 4 and 5.1).
    private static let telling: [Case] = [
        Case("5.1", "an age, once it is stored", .first(long), .reused(after: 100, tells: ["Age": "100"])),
        Case(
            "5.1", "the age that it came with, and on from there", .first(long, "Age: 30", tells: ["Age": "30"]),
            .reused(after: 100, tells: ["Age": "130"])),
        Case(
            "4.2.3", "an age by its date", .first(long, "Date: Fri, 15 Jan 2027 07:50:00 GMT", tells: ["Age": "600"]),
            .reused(after: 100, tells: ["Age": "700"])),
        Case(
            "4.2.3", "the older of both", .first(long, "Date: Fri, 15 Jan 2027 07:50:00 GMT", "Age: 700"),
            .reused(after: 1, tells: ["Age": "701"])),
        Case(
            "4.2.3", "no age of what is dated ahead", .first(long, "Date: Fri, 15 Jan 2027 10:00:00 GMT"),
            .reused(after: 100, tells: ["Age": "100"])),
        Case(
            "4.3.4", "an age that begins anew once confirmed", .first(short, "ETag: \"1\""),
            .confirmed(if: isTagged, by: [long], tells: ["Age": "0"])),
        Case(
            "3.1", "no cookies, and kept all the same", .first(long, "Set-Cookie: a=b", tells: ["Set-Cookie": nil]),
            .reused(tells: ["Set-Cookie": nil])),
        Case(
            "3.1", "nothing that belongs to a connection", .first(long, "Connection: X-A", "X-A: 1", "Proxy-Authenticate: Basic"),
            .reused(tells: ["X-A": nil, "Connection": nil, "Proxy-Authenticate": nil])),
        Case(
            "3.1", "a type of our own finding", .first(long, "Content-Type: application/octet-stream"),
            .reused(tells: ["Content-Type": "image/png"])),
        Case("4.1", "that it may differ by format", .first(long, tells: ["Vary": "Accept"]), .reused(tells: ["Vary": "Accept"])),
    ]

    /// What must not stand in for something else (sections 2, 3, 4 and 4.1).
    private static let apart: [Case] = [
        Case(
            "2", "another query is another image", .first(long), Step(path: "/a.png?b", asked: .anew, fields: [long], shows: 2), .reused()
        ),
        Case(
            "2", "another letter case in the path is another image", .first(long),
            Step(path: "/A.png", asked: .anew, fields: [long], shows: 2), .reused()),
        Case(
            "2", "a query keeps nothing from being stored",
            Step(path: "/a.png?b=1", asked: .anew, fields: [long], shows: 1), Step(path: "/a.png?b=1", asked: .not, shows: 1)),
        Case(
            "4.1", "who takes other formats is asked for anew where the origin chooses by them, and both are kept",
            Step(accept: "image/webp,image/png", asked: .anew, fields: [long, "Vary: Accept"], shows: 1),
            Step(accept: "image/png", asked: .anew, fields: [long, "Vary: Accept"], shows: 2),
            Step(accept: "image/webp,image/png", asked: .not, shows: 1), Step(accept: "image/png", asked: .not, shows: 2)),
        Case(
            "4.1", "one image for all where it does not",
            Step(accept: "image/webp,image/png", asked: .anew, fields: [long], shows: 1), Step(accept: "image/png", asked: .not, shows: 1)),
        Case(
            "4.1", "the same for those whose fields say the same in other words",
            Step(accept: "image/webp, image/png;q=0.5", asked: .anew, fields: [long, "Vary: accept"], shows: 1),
            Step(accept: "image/png;q=0.5 ,image/webp;q=1.0", asked: .not, shows: 1)),
        Case(
            "5.2.2.5", "no-store in the place of what was stored: neither is used again", .first(short),
            .replaced("Cache-Control: no-store"),
            .replaced(by: 3, long), .reused(3)),
        Case("5.2.2.5", "no-store in a second field", .first(long, "Cache-Control: no-store"), .replaced(after: 0)),
        Case("5.2", "fields of other caches' own count for nothing", .first(short, "Surrogate-Control: max-age=3600"), .replaced()),
        Case(
            "5.4", "Pragma in an answer counts for nothing", .first("Expires: Fri, 15 Jan 2027 09:00:00 GMT", "Pragma: no-cache"), .reused()
        ),
    ]

    @Test("Revalidation requests are correct", arguments: asking + confirming)
    func validation(_ each: Case) async throws { try await perform(each) }

    @Test("Responses and variants are correct", arguments: telling + apart)
    func reuse(_ each: Case) async throws { try await perform(each) }

    @Test("Interim responses are not part of the response (RFC 9110, 15.2)", arguments: [100, 102, 103])
    func interim(_ status: Int) async throws {
        let origin = try Origin { _, connection in
            connection.send("HTTP/1.1 \(status) Early\r\nCache-Control: no-store\r\nETag: \"early\"\r\n\r\n")
            connection.answer(200, ["Content-Type: image/png", Self.long], body: TestImage.png(1))
        }
        defer { origin.stop() }
        let house = try House([origin]) { $0.freshness.minTTL = 0 }
        for outcome in [CacheStatus.Outcome.miss, .hit] {
            let got = try await house.get(origin.url("/a.png"))
            #expect(got.body == TestImage.png(1) && got.outcome.outcome == outcome)
        }
        await house.stop()
    }

    private func perform(_ each: Case) async throws {
        let answers = each.steps.filter { $0.asked != .not }
        let count = Mutex(0)
        let origin = try Origin { _, connection in
            let number = count.withLock { count in
                defer { count += 1 }
                return count
            }
            guard number < answers.count else { return connection.reset() }
            let step = answers[number]
            let fields = step.fields.contains { $0.hasPrefix("Content-Type") } ? step.fields : step.fields + ["Content-Type: image/png"]
            connection.answer(step.status, fields + ["Connection: close"], body: step.status == 304 ? [] : TestImage.png(step.shows))
            connection.finish()
        }
        defer { origin.stop() }
        let house = try House([origin]) { $0.freshness.minTTL = 0 }
        for (number, step) in each.steps.enumerated() {
            house.pass(step.after)
            let before = origin.requests.count
            let got = try await house.get(origin.url(step.path), accept: step.accept)
            let asked = origin.requests.dropFirst(before).map { request in
                request.headers.filter { $0.key.hasPrefix("if-") }.map { "\($0.key): \($0.value)" }
            }
            let note: Comment = "\(each), step \(number + 1): \(got), asked \(asked)"
            #expect(got.status == 200 && got.body == TestImage.png(step.shows), note)
            switch step.asked {
            case .not: #expect(asked.isEmpty, note)
            case .with(let conditions): #expect(asked.map { Set($0) } == [Set(conditions)], note)
            }
            for (name, value) in step.tells { #expect(got.headers[name] == value, note) }
        }
        await house.stop()
    }
}
