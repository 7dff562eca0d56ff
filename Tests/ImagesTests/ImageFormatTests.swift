import Testing

@testable import IntertwineImages

@Suite("Detection of image types")
struct ImageFormatTests {
    @Test(
        "A declared type is one supported media type",
        arguments: [
            ("image/png", ImageFormat.png), ("IMAGE/JPEG", .jpeg), ("image/jpg", .jpeg), ("image/gif; a=b", .gif), (" image/webp ", .webp),
            ("image/avif;", .avif), ("image/png; charset=\"x\"", .png), ("image/pjpeg", .jpeg), ("Image/X-PNG", .png),
        ])
    func declared(_ field: String, _ kind: ImageFormat) {
        #expect(ImageFormat.declared(field) == .kind(kind))
    }

    @Test(
        "Without a declared type, or with application/octet-stream, the bytes decide",
        arguments: [nil, "", "application/octet-stream", "Binary/Octet-Stream; x=y"])
    func open(_ field: String?) {
        #expect(ImageFormat.declared(field) == .open)
    }

    @Test(
        "Other types are refused: lists, documents, invalid ones (CVE-2019-18923)",
        arguments: [
            "image/png, text/html", "text/html, image/png", "image/png text/html", "image/png; a=b, text/html", "image/png;text/html",
            "text/html", "image/svg+xml", "application/xml", "image/*", "*/*", "image/", "png", "image/bmp", "image/tiff", "image/png/x",
            "text/html; image/png", "application/octet-stream, image/png", "; a=b", "image/pngx", "image/heic",
        ])
    func refused(_ field: String) {
        #expect(ImageFormat.declared(field) == .denied)
    }

    @Test(
        "The first bytes identify the format",
        arguments: [
            (TestImage.png(), ImageFormat.png), (TestImage.jpeg, .jpeg), (TestImage.gif, .gif), (Array("GIF87a".utf8), .gif),
            (TestImage.webp, .webp),
            (TestImage.avif, .avif),
        ])
    func sniffed(_ bytes: [UInt8], _ kind: ImageFormat) {
        #expect(ImageFormat.sniff(bytes) == .kind(kind))
        // From a beginning that is too short nothing follows yet, and never the wrong thing.
        for length in 0..<bytes.count {
            let sniffed = ImageFormat.sniff(Array(bytes.prefix(length)))
            #expect(sniffed == .unclear || sniffed == .kind(kind))
        }
    }

    @Test(
        "Documents and other formats are not recognized",
        arguments: [
            Array("<html>".utf8), Array("<svg xmlns=".utf8), Array("<?xml version".utf8), Array("GIF88a".utf8), Array("RIFF....WAVE".utf8),
            Array("BM......".utf8), [0, 0, 0, 24] + Array("ftypheic".utf8) + [0, 0, 0, 0] + Array("mif1heic".utf8),
            [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            [0xff, 0xff, 0xff, 0xff] + Array("ftypavif".utf8),
        ] as [[UInt8]])
    func unknown(_ bytes: [UInt8]) {
        #expect(ImageFormat.sniff(bytes) == .unknown)
    }

    @Test(
        "An image without its end is incomplete",
        arguments: [
            (TestImage.png(), ImageFormat.png), (TestImage.jpeg, .jpeg), (TestImage.gif, .gif), (TestImage.webp, .webp),
            (TestImage.avif, .avif),
        ])
    func whole(_ bytes: [UInt8], _ kind: ImageFormat) {
        #expect(kind.isComplete(bytes, isDelimited: false))
        #expect(!kind.isComplete(Array(bytes.dropLast(1)), isDelimited: false))
        #expect(!kind.isComplete(Array(bytes.prefix(5)), isDelimited: false))
    }

    @Test("A real image is complete only with all its bytes", arguments: Frames.real)
    func cut(_ kind: ImageFormat, _ bytes: [UInt8]) {
        for isDelimited in [true, false] {
            #expect(kind.isComplete(bytes, isDelimited: isDelimited))
            #expect(kind.isComplete(bytes + [0, 1, 2], isDelimited: isDelimited))
            // So much shows that it is one at all.
            for length in 32..<(bytes.count - 1) { #expect(!kind.isComplete(Array(bytes.prefix(length)), isDelimited: isDelimited)) }
        }
    }
}
