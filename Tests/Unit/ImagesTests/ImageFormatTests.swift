import Testing

@testable import IntertwineImages

@Suite("Detection of image types")
struct ImageFormatTests {
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
