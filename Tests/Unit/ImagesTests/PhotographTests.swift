import Foundation
import TestSupport
import Testing

@testable import IntertwineImages

/// Photographs in the sizes of today's cameras.
@Suite struct PhotographTests {
    /// A JPEG of noise, which is as hard to decode as a photograph, in tiles of 512 pixels.
    private static func photograph(_ tools: VipsTools, _ across: Int, _ down: Int, options: String = "") throws -> [UInt8] {
        try tools.vips("gaussnoise", "grey.v", "512", "512", "--sigma", "20", "--mean", "128")
        try tools.vips("bandjoin", "grey.v grey.v grey.v", "color.v")
        try tools.vips("cast", "color.v", "tile.v", "uchar")
        try tools.vips("replicate", "tile.v", "photograph.jpg[Q=60\(options)]", "\(across)", "\(down)")
        return try tools.bytes("photograph.jpg")
    }

    @Test(
        "A photograph is reduced to a cell",
        arguments: [
            ("25 million pixels", 12, 8, ""), ("12 million, progressive", 8, 6, ",interlace"), ("50 million", 16, 12, ""),
            ("50 million, progressive", 16, 12, ",interlace"), ("64 million", 19, 13, ""), ("113 million", 24, 18, ""),
            ("201 million", 32, 24, ""),
        ])
    func cells(_ name: String, _ across: Int, _ down: Int, _ options: String) async throws {
        let image = try Self.photograph(VipsTools(), across, down, options: options)
        // What the service checks while the image arrives.
        var reader = ImageHeaderParser(.jpeg)
        reader.consume(image)
        #expect(reader.finding == .size(ImageDimensions(width: across * 512, height: down * 512)) && reader.error == nil)
        let workers = try BuiltWorkers.make()
        for format in [ImageFormat.avif, .webp, .jpeg] {
            let recipe = TransformJob(width: 600, height: 400, cut: .centre, format: format)
            let made = try await workers.transform(image, recipe, priority: .visible)
            #expect((made.width, made.height) == (600, 400))
            #expect((made.originalWidth, made.originalHeight) == (across * 512, down * 512))
        }
        await workers.shutDown()
    }

    @Test(
        "The memory of a worker determines the largest image, for service and worker alike",
        arguments: [
            (1 << 30, .rows, 16_384, 16_384, true), (1 << 30, .rows, 16_385, 1, false), (1 << 30, .coefficients, 12_000, 9_000, true),
            (1 << 30, .coefficients, 16_384, 8_192, true), (1 << 30, .coefficients, 16_384, 8_193, false),
            (1 << 30, .pixels, 8_192, 8_192, true),
            (1 << 30, .pixels, 8_192, 8_193, false), (1 << 29, .pixels, 8_192, 4_096, true), (1 << 29, .pixels, 8_192, 4_097, false),
            (1 << 29, .coefficients, 8_064, 6_048, true), (1 << 29, .rows, 12_000, 9_000, true), (1 << 29, .rows, 16_384, 16_384, false),
            (4 << 30, .pixels, 16_384, 16_384, true), (1 << 30, .pixels, 4_294_967_295, 4_294_967_295, false),
        ] as [(Int, ImageLimits.Decoding, Int, Int, Bool)])
    func limits(_ memory: Int, _ decoding: ImageLimits.Decoding, _ width: Int, _ height: Int, _ isAccepted: Bool) {
        let limits = ImageLimits(memory: memory)
        #expect(limits.accepts(width: width, height: height, decoding) == isAccepted)
        #expect((ImageDimensions(width: width, height: height).error(decoding, limits) == nil) == isAccepted)
    }

    @Test(
        "The header of a JPEG tells how it is decoded",
        arguments: [(0xc0, .rows), (0xc1, .rows), (0xc2, .coefficients), (0xca, .coefficients)] as [(UInt8, ImageLimits.Decoding)])
    func decodings(_ marker: UInt8, _ decoding: ImageLimits.Decoding) {
        var reader = ImageHeaderParser(.jpeg)
        reader.consume(Frames.jpeg(16_384, 16_384, marker))
        #expect(reader.decoding == decoding && reader.error == (decoding == .rows ? nil : .tooManyPixels))
    }

    @Test("A worker has the memory of the setting, and the images that fit in it", arguments: [512 << 20, 1 << 30])
    func memory(_ memory: Int) async throws {
        var configuration = ImageWorkers.Configuration()
        configuration.path = BuiltProduct.path("intertwine-image-worker")
        configuration.count = 1
        configuration.memory = memory
        configuration.timeLimit = .seconds(60)
        let workers = try ImageWorkers(configuration)
        let image = try Self.photograph(VipsTools(), 16, 12)
        let recipe = TransformJob(width: 600, height: 400, format: .jpeg)
        #expect(try await workers.transform(image, recipe, priority: .visible).width == 533)
        // All workers of the process: those of other tests have the usual memory.
        let limits = BuiltWorkers.processes.compactMap { process -> Int? in
            let text = (try? String(contentsOfFile: "/proc/\(process)/limits", encoding: .utf8)) ?? ""
            let line = text.split(separator: "\n").first { $0.hasPrefix("Max address space") }
            return line.flatMap { $0.split(separator: " ").dropFirst(3).first }.flatMap { Int($0) }
        }
        #expect(limits.contains(memory))
        // In its own size it has 50 million pixels to hold.
        let whole = TransformJob(format: .webp)
        if memory < 1 << 30 {
            let failure = await #expect(throws: ImageError.self) { try await workers.transform(image, whole, priority: .visible) }
            #expect(failure?.reason == .tooManyPixels)
        }
        await workers.shutDown()
    }
}
