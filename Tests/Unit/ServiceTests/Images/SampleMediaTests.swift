import IntertwineTesting
import TestSupport
import Testing

@Suite("Media of the sample ads")
struct SampleMediaTests {
    private static let advertisements = """
        {"kind":"ad","id":7,"contentUrl":"http://pictures.sample.invalid/bakery.mp4","clickthroughUrl":"https://e.com","type":"video"}
        {"kind":"ad","id":8,"contentUrl":"https://elsewhere.com/bakery.mp4","clickthroughUrl":"https://e.com","type":"video"}

        """

    @Test("Sample media are served from the binary, also by range; other media keep their URL")
    func played() async throws {
        let settings = ["ads.per-page": "3", "ads.rotation": "listed"]
        try await TestService.run(.socket, items: Self.advertisements + sampleItems(users: 3), settings: settings) { service in
            try await offPool {
                let page = try service.get("/feed").text
                #expect(page.contains(#""href":"/sample/bakery.mp4""#) && page.contains(#""href":"https://elsewhere.com/bakery.mp4""#))
                let whole = try service.get("/sample/bakery.mp4")
                #expect(whole.status == 200 && whole["content-type"] == "video/mp4" && whole["accept-ranges"] == "bytes")
                let part = try service.get("/sample/bakery.mp4", fields: ["Range: bytes=4-7"])
                #expect(part.status == 206 && part.text == "ftyp")
                #expect(try service.get("/sample/library.mp3")["content-type"] == "audio/mpeg")
                #expect(try service.get("/sample/other.mp4").status == 404)
            }
        }
    }
}
