import Testing

@testable import IntertwineService

@Suite("Paths of claims")
struct ClaimPathTests {
    @Test(
        "A path names members",
        arguments: [
            ("sub", ["sub"]), ("realm_access.roles", ["realm_access", "roles"]),
            (#""https://example.com/viewer".id"#, ["https://example.com/viewer", "id"]), (#"a."b.c""#, ["a", "b.c"]),
            ("https://example.com/x", ["https://example", "com/x"]), ("größe", ["größe"]),
        ])
    func names(_ text: String, _ names: [String]) {
        #expect(ClaimPath(text)?.names == names)
        #expect(ClaimPath(text)?.description == text)
    }

    @Test(
        "An invalid path is refused",
        arguments: ["", ".", "a.", ".a", "a..b", #"""#, #"""""#, #""a"#, #""a"b"#, #"a"b""#, #"a."""#, "a.b.c.d.e.f.g.h.i"])
    func invalid(_ text: String) {
        #expect(ClaimPath(text) == nil)
    }
}
