import Testing

@testable import IntertwineHTTPServer
@testable import IntertwinePrimitives

@Suite("Request targets")
struct RequestPathTests {
    @Test(
        "Unnecessary escapes are equivalent; all others stay",
        arguments: [
            ("/feed", ["feed"]), ("/%66eed", ["feed"]), ("/%46EED", ["FEED"]), ("/a%2Fb%2fc", ["a%2Fb%2fc"]), ("/%2566", ["%2566"]),
            ("/%25%36%36", ["%2566"]), ("/%7e%2D%5F%2e", ["~-_."]), ("/user%3Att/%c3%a9%20", ["user%3Att", "%c3%a9%20"]), ("/", [""]),
            ("/a//%61?x=%61", ["a", "", "a"]), ("/é%61", ["éa"]), ("/%6", ["%6"]), ("/%", ["%"]),
        ])
    func paths(target: String, segments: [String]) {
        let path = PercentCoding.normalised(target.prefix { $0 != "?" })
        #expect(path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init) == segments)
    }

    @Test("A parameter with an escaped name is recognized, so that duplicates are detected")
    func names() throws {
        #expect(try Query("%6Cimit=3").integer("limit", in: 1...9) == 3)
        let twice = #expect(throws: Problem.self) { try Query("limit=5&%6cimit=7").text("limit") }
        #expect(twice?.errors.map(\.code) == [.duplicate])
        #expect(try Query("%zz=1&%ff=2&limit=4").integer("limit", in: 1...9) == 4)
    }
}
