import TestSupport
import Testing

@testable import IntertwineImages

@Suite("Dimensions of an image")
struct ImageHeaderParserTests {
    private static let samples: [(ImageFormat, [UInt8], ImageDimensions)] = [
        (.png, Frames.png(640, 480), ImageDimensions(width: 640, height: 480)),
        (.png, Frames.png(4_294_967_295, 1), ImageDimensions(width: 4_294_967_295, height: 1)),
        (.jpeg, Frames.jpeg(6_400, 4_800), ImageDimensions(width: 6_400, height: 4_800)),
        (.jpeg, Frames.jpeg(640, 480, 0xc2), ImageDimensions(width: 640, height: 480)),
        (.jpeg, Frames.jpeg(640, 480, 0xce), ImageDimensions(width: 640, height: 480)),
        (.jpeg, Frames.jpeg(640, 480, before: Array("junk".utf8)), ImageDimensions(width: 640, height: 480)),
        (.jpeg, Frames.jpeg(640, 480, before: [0, 0, 0xff, 0, 0xff, 1, 0xff, 0xd0]), ImageDimensions(width: 640, height: 480)),
        (.jpeg, Frames.jpeg(640, 480, before: [0xff, 0xe1, 0, 0]), ImageDimensions(width: 640, height: 480)),
        (.gif, Frames.gif(65_535, 1), ImageDimensions(width: 65_535, height: 1)),
        (.gif, Frames.gif(640, 480), ImageDimensions(width: 640, height: 480)),
        (.gif, Frames.gif(0, 0, frame: (640, 480)), ImageDimensions(width: 640, height: 480)),
        (
            .gif, Frames.gif(1, 500, frame: (60_000, 2), between: [0x21, 0xfe, 2, 0x2c, 0x2c, 1, 7, 0]),
            ImageDimensions(width: 60_000, height: 500)
        ),
        (.avif, Frames.avif((640, 480)), ImageDimensions(width: 640, height: 480)),
        (.avif, Frames.avif((64, 48), (640, 480), (10, 10)), ImageDimensions(width: 640, height: 480)),
        (.webp, Frames.webpLossy(16_383, 9), ImageDimensions(width: 16_383, height: 9)),
        (.webp, Frames.webpLossless(16_384, 77), ImageDimensions(width: 16_384, height: 77)),
        (.webp, Frames.webpExtended(16_777_216, 400), ImageDimensions(width: 16_777_216, height: 400)),
    ]

    @Test("Dimensions are read from the first bytes in any segmentation", arguments: samples)
    func sizes(_ kind: ImageFormat, _ bytes: [UInt8], _ size: ImageDimensions) {
        var whole = ImageHeaderParser(kind)
        whole.consume(bytes)
        #expect(whole.finding == .size(size))
        var slow = ImageHeaderParser(kind)
        for byte in bytes {
            #expect(slow.finding == .unclear || slow.finding == .size(size))
            slow.consume([byte])
        }
        #expect(slow.finding == .size(size))
        for length in 0..<bytes.count {
            var cut = ImageHeaderParser(kind)
            cut.consume(bytes.prefix(length))
            #expect(cut.finding == .unclear || cut.finding == .size(size))
            cut.consume(bytes.dropFirst(length))
            #expect(cut.finding == .size(size))
        }
    }

    @Test(
        "Malformed images have no dimensions",
        arguments: [
            (ImageFormat.png, TestImage.png()), (.jpeg, [0xff, 0xd8, 0xff, 0xd9, 0, 0]),
            (.jpeg, [0xff, 0xd8, 0xff, 0xda, 0, 3, 0]), (.gif, Frames.gif(0, 0)), (.avif, Frames.avif()),
            (.gif, Frames.gif(0, 5)), (.webp, Array("RIFF....WEBPVP8 ".utf8) + [UInt8](repeating: 0, count: 40)),
            (.webp, Array("RIFF....WEBPVP8L".utf8) + [UInt8](repeating: 0, count: 40)), (.webp, Array("RIFF....WEBPABCD".utf8)),
        ] as [(ImageFormat, [UInt8])])
    func unreadable(_ kind: ImageFormat, _ bytes: [UInt8]) {
        var reader = ImageHeaderParser(kind)
        reader.consume(bytes)
        #expect(reader.finding == .unreadable)
        for length in 0...bytes.count {
            var cut = ImageHeaderParser(kind)
            cut.consume(bytes.prefix(length))
            #expect(cut.finding == .unclear || cut.finding == .unreadable)
        }
    }

    @Test("Any bytes give the same result in any segmentation, without a trap")
    func anyBytes() {
        var generator = SeededRandom(seed: 6)
        for _ in 0..<3_000 {
            let sample = Self.samples.randomElement(using: &generator) ?? Self.samples[0]
            var bytes = sample.1
            for _ in 0..<Int.random(in: 0..<4, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            bytes += (0..<20).map { _ in UInt8.random(in: 0...255, using: &generator) }
            var whole = ImageHeaderParser(sample.0)
            whole.consume(bytes)
            var pieces = ImageHeaderParser(sample.0)
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Int.random(in: 1...9, using: &generator)
                pieces.consume(rest.prefix(count))
                rest = rest.dropFirst(count)
            }
            #expect(whole.finding == pieces.finding)
        }
    }

    @Test(
        "67 million pixels in any format, 16,384 a side",
        arguments: [
            (8_192, 8_192, nil), (8_192, 8_193, .tooManyPixels), (9_504, 6_336, nil), (8_064, 6_048, nil), (16_384, 4_096, nil),
            (16_385, 1, .tooManyPixels), (1, 16_385, .tooManyPixels), (4_294_967_295, 4_294_967_295, .tooManyPixels), (0, 1, .typeMismatch),
            (1, 0, .typeMismatch),
        ] as [(Int, Int, ImageError.Reason?)])
    func limits(_ width: Int, _ height: Int, _ fault: ImageError.Reason?) {
        #expect(ImageDimensions(width: width, height: height).error() == fault)
    }

    @Test(
        "The pixels of all frames are limited to 480 million, by declared and found frame counts",
        arguments: [
            (ImageFormat.gif, Frames.gif(4_000, 3_000, frames: 40), 40, nil),
            (.gif, Frames.gif(4_000, 3_000, frames: 41), 41, .tooManyPixels),
            (.png, Frames.apng(4_000, 3_000, frames: 40), 40, nil), (.png, Frames.apng(4_000, 3_000, frames: 41), 41, .tooManyPixels),
            (.webp, Frames.webpAnimated(4_000, 3_000, frames: 40), 40, nil),
            (.webp, Frames.webpAnimated(4_000, 3_000, frames: 41), 41, .tooManyPixels),
            (.avif, Frames.avifSequence(4_000, 3_000, frames: 40), 40, nil),
            (.avif, Frames.avifSequence(4_000, 3_000, frames: 4_000_000_000), 4_000_000_000, .tooManyPixels),
        ] as [(ImageFormat, [UInt8], Int, ImageError.Reason?)])
    func animations(_ kind: ImageFormat, _ bytes: [UInt8], _ frames: Int, _ fault: ImageError.Reason?) {
        for piece in [bytes.count, 7, 1] {
            var reader = ImageHeaderParser(kind)
            var rest = bytes[...]
            while !rest.isEmpty {
                reader.consume(rest.prefix(piece))
                rest = rest.dropFirst(piece)
            }
            #expect(reader.finding == .size(ImageDimensions(width: 4_000, height: 3_000)))
            #expect(reader.frames == frames && reader.error == fault)
        }
    }

    @Test(
        "An animation has at most 2,000 frames of any size",
        arguments: [(2_000, nil), (2_001, .tooManyFrames)]
            as [(Int, ImageError.Reason?)])
    func frames(_ count: Int, _ fault: ImageError.Reason?) {
        let animations: [(ImageFormat, [UInt8])] = [
            (.gif, Frames.gif(1, 1, frames: count)), (.png, Frames.apng(1, 1, frames: count)),
            (.webp, Frames.webpAnimated(1, 1, frames: count)), (.avif, Frames.avifSequence(1, 1, frames: count)),
        ]
        for (kind, bytes) in animations {
            var reader = ImageHeaderParser(kind)
            reader.consume(bytes)
            #expect(reader.frames == count && reader.error == fault, "\(kind)")
        }
    }
}
