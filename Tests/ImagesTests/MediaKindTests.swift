import Testing

@testable import Images

@Suite("What is a picture")
struct MediaKindTests {
    @Test(
        "A declared type is one media type, and one of ours",
        arguments: [
            ("image/png", MediaKind.png), ("IMAGE/JPEG", .jpeg), ("image/jpg", .jpeg), ("image/gif; a=b", .gif), (" image/webp ", .webp),
            ("image/avif;", .avif), ("image/png; charset=\"x\"", .png),
        ])
    func declared(_ field: String, _ kind: MediaKind) {
        #expect(MediaKind(contentType: field) == kind)
    }

    @Test(
        "Everything else is refused: lists, documents, nonsense (CVE-2019-18923)",
        arguments: [
            "", "image/png, text/html", "text/html, image/png", "image/png text/html", "image/png; a=b, text/html", "image/png;text/html",
            "text/html", "image/svg+xml", "application/xml", "image/*", "*/*", "image/", "png", "image/bmp", "image/tiff", "image/png/x",
            "text/html; image/png", "application/octet-stream", "image/pngx", "image/heic",
        ])
    func refused(_ field: String) {
        #expect(MediaKind(contentType: field) == nil)
    }

    @Test(
        "The first bytes tell",
        arguments: [
            (Picture.png(), MediaKind.png), (Picture.jpeg, .jpeg), (Picture.gif, .gif), (Array("GIF87a".utf8), .gif), (Picture.webp, .webp),
            (Picture.avif, .avif),
        ])
    func sniffed(_ bytes: [UInt8], _ kind: MediaKind) {
        #expect(MediaKind.sniff(bytes) == .kind(kind))
        // From a beginning that is too short nothing follows yet, and never the wrong thing.
        for length in 0..<bytes.count {
            let sniffed = MediaKind.sniff(Array(bytes.prefix(length)))
            #expect(sniffed == .unclear || sniffed == .kind(kind))
        }
    }

    @Test(
        "Documents and other formats are nothing",
        arguments: [
            Array("<html>".utf8), Array("<svg xmlns=".utf8), Array("<?xml version".utf8), Array("GIF88a".utf8), Array("RIFF....WAVE".utf8),
            Array("BM......".utf8), [0, 0, 0, 24] + Array("ftypheic".utf8) + [0, 0, 0, 0] + Array("mif1heic".utf8),
            [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            [0xff, 0xff, 0xff, 0xff] + Array("ftypavif".utf8),
        ] as [[UInt8]])
    func unknown(_ bytes: [UInt8]) {
        #expect(MediaKind.sniff(bytes) == .unknown)
    }

    @Test(
        "A picture whose tail is missing is not whole",
        arguments: [
            (Picture.png(), MediaKind.png), (Picture.jpeg, .jpeg), (Picture.gif, .gif), (Picture.webp, .webp), (Picture.avif, .avif),
        ])
    func whole(_ bytes: [UInt8], _ kind: MediaKind) {
        #expect(kind.isWhole(bytes))
        #expect(!kind.isWhole(Array(bytes.dropLast(1))))
        #expect(!kind.isWhole(Array(bytes.prefix(5))))
    }
}
