import Testing

@testable import IntertwineImages

@Suite("Format of a resized image")
struct ResizedFormatTests {
    @Test("Animations and transparency are preserved if the client accepts a suitable format")
    func chosen() throws {
        let all = AcceptedFormats("image/avif,image/webp,*/*").made([.avif, .webp])
        for name in ["image/jpg", "image/pjpeg", "IMAGE/JPG"] {
            #expect(AcceptedFormats(name).made([]) == AcceptedFormats("image/jpeg").made([]), "\(name)")
        }
        let old = AcceptedFormats(nil).made([.avif, .webp])
        func kind(_ traits: ImageTraits, _ taken: AcceptedFormats.Set) -> String? {
            ResizedFormat(traits, accepted: taken, newer: [.avif, .webp]).map { "\($0.kind)\($0.keepsAnimation ? " animated" : "")" }
        }
        let animated = ImageTraits(isAnimated: true, mayHaveAlpha: true, isDrawing: true)
        #expect(kind(animated, all) == "webp animated" && kind(animated, old) == "gif animated")
        #expect(kind(animated, AcceptedFormats("image/png").made([])) == "png")
        let photograph = ImageTraits(isAnimated: false, mayHaveAlpha: false, isDrawing: false)
        #expect(kind(photograph, all) == "avif" && kind(photograph, old) == "jpeg")
        #expect(kind(ImageTraits(isAnimated: false, mayHaveAlpha: true, isDrawing: false), old) == "png")
        // Who takes nothing else gets a format that is not preferred, and whoever names one gets no other.
        #expect(
            kind(photograph, AcceptedFormats("image/webp").made([])) == "webp"
                && kind(photograph, AcceptedFormats("image/gif").made([])) == "gif")
        #expect(kind(photograph, AcceptedFormats("image/png,image/*;q=0.8,*/*;q=0.5").made([.avif, .webp])) == "jpeg")
    }

    @Test(
        "The client's preference selects the format, then the configuration",
        arguments: [
            ("image/avif;q=0.1,image/webp;q=0.9,*/*", "webp"), ("image/webp;q=0.85,image/avif;q=0.9,*/*", "avif"),
            ("image/webp;q=1.0,image/avif;q=0.999", "webp"), ("image/webp;q=0.5,image/avif;q=0.5", "avif"),
            ("image/avif;q=0,image/webp;q=0.01,*/*", "webp"), ("image/avif;q=0.0001,image/jpeg", "avif"),
        ])
    func weighed(_ accept: String, _ expected: String) {
        let photograph = ImageTraits(isAnimated: false, mayHaveAlpha: false, isDrawing: false)
        func kind(_ newer: [ImageFormat]) -> String? {
            ResizedFormat(photograph, accepted: AcceptedFormats(accept).made(newer), newer: newer).map { "\($0.kind)" }
        }
        #expect(kind([.avif, .webp]) == expected)
        // What is not made is in nobody's way.
        if accept.contains("webp") { #expect(kind([.webp]) == "webp") }
    }
}
