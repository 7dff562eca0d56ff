import Foundation
import TestSupport
import Testing

@testable import IntertwineImages

@Suite("Results of the workers", .serialized, .timeLimit(.untilStuck))
struct TransformTests {
    /// Every form that comes in, as a file that the tools make of `drawn.ppm`.
    private static let forms: [(name: String, make: @Sendable (VipsTools) throws -> Void)] = [
        ("plain.jpg", { try $0.vips("jpegsave", "drawn.ppm", "plain.jpg") }),
        ("progressive.jpg", { try $0.vips("jpegsave", "drawn.ppm", "progressive.jpg", "--interlace") }),
        ("grey.jpg", { try $0.vips("colourspace", "drawn.ppm", "grey.jpg", "b-w") }),
        // Browsers ignore a profile that does not fit, such as one of colours in grayscale.
        ("grey-of-colours.jpg", { try $0.grey("grey-of-colours.jpg", profile: "srgb") }),
        (
            "grey-of-noise.jpg",
            { tools in
                try tools.write(Array(repeating: 7, count: 300), "noise.icc")
                try tools.grey("grey-of-noise.jpg", profile: "noise.icc")
            }
        ),
        ("cmyk.jpg", { try $0.vips("icc_transform", "drawn.ppm", "cmyk.jpg", "cmyk", "--input-profile", "srgb") }),
        ("wide-gamut.jpg", { try $0.vips("icc_transform", "drawn.ppm", "wide-gamut.jpg", "p3", "--input-profile", "srgb") }),
        (
            "turned.jpg",
            { tools in
                try tools.vips("jpegsave", "drawn.ppm", "upright.jpg", "--strip")
                try tools.write(VipsTools.noted(tools.bytes("upright.jpg"), orientation: 6), "turned.jpg")
            }
        ),
        ("plain.png", { try $0.vips("pngsave", "drawn.ppm", "plain.png") }),
        ("deep.png", { try $0.vips("colourspace", "drawn.ppm", "deep.png", "rgb16") }),
        ("palette.png", { try $0.vips("pngsave", "drawn.ppm", "palette.png", "--palette") }),
        ("interlaced.png", { try $0.vips("pngsave", "drawn.ppm", "interlaced.png", "--interlace") }),
        (
            "alpha.png",
            { tools in
                try tools.vips("extract_band", "drawn.ppm", "alpha.v", "0")
                try tools.vips("bandjoin", "drawn.ppm alpha.v", "alpha.png")
            }
        ),
        ("plain.webp", { try $0.vips("webpsave", "drawn.ppm", "plain.webp") }),
        ("plain.gif", { try $0.vips("gifsave", "drawn.ppm", "plain.gif") }),
        ("plain.avif", { try $0.vips("heifsave", "drawn.ppm", "plain.avif", "--compression", "av1") }),
        ("pixel.png", { try $0.vips("extract_area", "drawn.ppm", "pixel.png", "5", "5", "1", "1") }),
        (
            "long.jpg",
            { tools in
                try tools.drawn("long.ppm", 12_000, 500)
                try tools.vips("jpegsave", "long.ppm", "long.jpg")
            }
        ),
        // The largest there are: 12,000 a side, and 24 million pixels.
        ("largest.png", { try $0.vips("resize", "drawn.ppm", "largest.png", "2.5", "--vscale", "20", "--kernel", "linear") }),
        (
            "largest-turned.jpg",
            { tools in
                try tools.vips("resize", "drawn.ppm", "upright.jpg[strip]", "15", "--vscale", "3.3333333333", "--kernel", "linear")
                try tools.write(VipsTools.noted(tools.bytes("upright.jpg"), orientation: 6), "largest-turned.jpg")
            }
        ),
    ]

    /// In the small size: colours by a profile, an orientation, transparency and a palette.
    private static let comparedForms = TestSize.full(
        forms.map(\.name), small: ["grey-of-colours.jpg", "cmyk.jpg", "turned.jpg", "alpha.png", "plain.gif"])

    @Test("Results equal those of libvips' program", arguments: comparedForms)
    func compared(_ name: String) async throws {
        let make = try #require(Self.forms.first { $0.name == name }).make
        let tools = VipsTools()
        let (width, height) = TestSize.full((800, 600), small: (400, 300))
        try tools.drawn("drawn.ppm", width, height)
        try make(tools)
        let workers = try BuiltWorkers.make()
        let fills: [(TransformJob.Cut, [String])] = [
            (.fit, []), (.centre, ["--smartcrop", "centre"]), (.attention, ["--smartcrop", "attention"]),
        ]
        let isCutNowhere = name == "pixel.png" || name.hasPrefix("largest")
        // Without a profile of its own an image is sRGB already.
        let profile = ["cmyk.jpg", "wide-gamut.jpg"].contains(name) ? ["--eprofile", "srgb"] : []
        for (fit, options) in fills where !isCutNowhere || fit == .fit {
            let recipe = TransformJob(width: 300, height: 150, cut: fit, format: .png)
            let made = try await workers.transform(try tools.bytes(name), recipe, priority: .visible)
            try tools.write(made.bytes, "ours.png")
            let size = ["--size", "300x150>", "--output", "theirs.png[strip]"] + profile
            _ = try #require(try tools.run("vipsthumbnail", [name] + size + options))
            let difference = try tools.difference("ours.png", "theirs.png")
            #expect(difference.map { $0 < 2 } == true, "\(name) \(recipe.text): \(String(describing: difference))")
        }
        await workers.shutDown()
    }

    @Test("Each format is encoded as itself", arguments: ImageFormat.allCases)
    func formats(_ kind: ImageFormat) async throws {
        let tools = VipsTools()
        try tools.drawn("drawn.ppm", 320, 240)
        try tools.vips("jpegsave", "drawn.ppm", "plain.jpg")
        let workers = try BuiltWorkers.make()
        let recipe = TransformJob(width: 160, format: kind, quality: 90)
        let made = try await workers.transform(try tools.bytes("plain.jpg"), recipe, priority: .visible)
        #expect(ImageFormat.sniff(Array(made.bytes.prefix(64))) == .kind(kind))
        #expect((made.width, made.height) == (160, 120))
        try tools.write(made.bytes, "ours")
        try tools.vips("colourspace", "ours", "ours.png", "srgb")
        try tools.run("vipsthumbnail", ["plain.jpg", "--size", "160x", "--output", "theirs.png[strip]"])
        let difference = try tools.difference("ours.png[strip]", "theirs.png")
        // Images with a palette of 256 colours are far from the others.
        #expect(difference.map { $0 < (kind == .gif ? 8 : 4) } == true, "\(kind): \(String(describing: difference))")
        await workers.shutDown()
    }

    @Test("Metadata is removed, orientation is applied, and dimensions are the upright ones")
    func noted() async throws {
        let tools = VipsTools()
        try tools.drawn("drawn.ppm", 400, 300)
        try tools.vips("jpegsave", "drawn.ppm", "upright.jpg", "--strip")
        let workers = try BuiltWorkers.make()
        let turned = VipsTools.noted(try tools.bytes("upright.jpg"), orientation: 6)
        for format in [ImageFormat.jpeg, .png, .webp, .avif] {
            let made = try await workers.transform(turned, TransformJob(width: 150, height: 150, format: format), priority: .visible)
            #expect((made.width, made.height) == (113, 150))
            let text = String(decoding: made.bytes, as: UTF8.self)
            #expect(!text.contains("GPS") && !text.contains("Exif") && !text.contains("EXIF"), "\(format)")
            #expect((made.originalWidth, made.originalHeight, made.frames) == (300, 400, 1))
        }
        let facts = try await workers.facts(of: turned, priority: .near)
        #expect(!facts.hasAlpha && facts.thumbHash.count > 5 && facts.thumbHash.count <= 40)
        #expect(facts.color.wholeMatch(of: /#[0-9a-f]{6}/) != nil)
        await workers.shutDown()
    }

    @Test("Dominant colour, placeholder and transparency of uniform images are correct")
    func plain() async throws {
        let tools = VipsTools()
        try tools.write(Array("P6 40 20 255\n".utf8) + (0..<800).flatMap { _ in [200, 100, 50] as [UInt8] }, "plain.ppm")
        try tools.vips("pngsave", "plain.ppm", "plain.png")
        let workers = try BuiltWorkers.make()
        let facts = try await workers.facts(of: try tools.bytes("plain.png"), priority: .visible)
        #expect(facts.color == "#c86432")
        // ThumbHash's first bytes: means of brightness in 6 bits, of yellow against blue and of red against green; 7 waves, wide.
        let hash = facts.thumbHash
        let head = UInt32(hash[0]) | UInt32(hash[1]) << 8 | UInt32(hash[2]) << 16
        #expect(Int(head & 63) == Int((350.0 / 3 / 255 * 63).rounded()))
        #expect(Int(head >> 6 & 63) == Int((31.5 + 31.5 * (150 - 50) / 255).rounded()))
        #expect(Int(head >> 12 & 63) == Int((31.5 + 31.5 * 100 / 255).rounded()))
        #expect(head >> 18 == 0 && hash[4] & 0x80 != 0 && hash[3] & 7 == 4)
        await workers.shutDown()
    }

    @Test("Images are not enlarged, keep proportions, and respect the focus point")
    func boxes() async throws {
        let tools = VipsTools()
        try tools.drawn("drawn.ppm", 200, 100)
        try tools.vips("pngsave", "drawn.ppm", "plain.png")
        let workers = try BuiltWorkers.make()
        let cases: [(TransformJob, Int, Int)] = [
            (TransformJob(format: .png), 200, 100), (TransformJob(width: 4_000, height: 4_000, format: .png), 200, 100),
            (TransformJob(width: 50, format: .png), 50, 25), (TransformJob(height: 50, format: .png), 100, 50),
            (TransformJob(width: 50, height: 50, cut: .centre, format: .png), 50, 50),
            (TransformJob(width: 400, height: 400, cut: .centre, format: .png), 100, 100),
            (TransformJob(width: 100, height: 100, cut: .point(x: 1_000, y: 500), format: .png), 100, 100),
        ]
        let image = try tools.bytes("plain.png")
        for (recipe, width, height) in cases {
            let made = try await workers.transform(image, recipe, priority: .visible)
            #expect((made.width, made.height) == (width, height), "\(recipe.text)")
            try tools.write(made.bytes, "last.png")
        }
        try tools.vips("extract_area", "plain.png", "right.png", "100", "0", "100", "100")
        #expect(try tools.difference("last.png", "right.png") == 0)
        await workers.shutDown()
    }

    @Test("Animations are preserved if requested, in their boxes", arguments: [ImageFormat.gif, .webp])
    func animated(_ kind: ImageFormat) async throws {
        let tools = VipsTools()
        for frame in 0..<3 { try tools.drawn("\(frame).ppm", 120, 90, phase: frame * 30) }
        try tools.vips("arrayjoin", "0.ppm 1.ppm 2.ppm", "strip.v", "--across", "1")
        try tools.vips("gifsave", "strip.v", "moving.gif", "--page-height", "90")
        let workers = try BuiltWorkers.make()
        let image = try tools.bytes("moving.gif")
        let recipe = TransformJob(width: 40, height: 40, cut: .centre, format: kind, keepsAnimation: true)
        let made = try await workers.transform(image, recipe, priority: .visible)
        #expect((made.width, made.height, made.frames) == (40, 40, 3))
        try tools.write(made.bytes, "made")
        #expect(!String(decoding: made.bytes, as: UTF8.self).contains("EXIF"))
        #expect(try tools.run("vipsheader", ["-f", "n-pages", "made"])?.trimmingCharacters(in: .whitespacesAndNewlines) == "3")
        let still = try await workers.transform(image, TransformJob(width: 40, format: kind), priority: .visible)
        try tools.write(still.bytes, "still")
        #expect(try tools.run("vipsheader", ["-f", "height", "still"])?.trimmingCharacters(in: .whitespacesAndNewlines) == "30")
        await workers.shutDown()
    }

    /// libvips puts more than 100 MB of an image into a file, which a worker cannot have.
    @Test("Animations with large frames are complete", .onlyInFull)
    func largeAnimation() async throws {
        let tools = VipsTools()
        try tools.drawn("frames.ppm", 150, 1_800)
        try tools.vips("resize", "frames.ppm", "strip.v", "10", "--kernel", "linear")
        try tools.vips("webpsave", "strip.v", "moving.webp", "--page-height", "1500", "--effort", "0")
        let workers = try BuiltWorkers.make()
        let recipe = TransformJob(width: 300, height: 200, cut: .fit, format: .webp, keepsAnimation: true)
        let made = try await workers.transform(try tools.bytes("moving.webp"), recipe, priority: .visible)
        #expect((made.width, made.height, made.frames) == (200, 200, 12))
        await workers.shutDown()
    }

    @Test("What is there of a truncated image is decoded for a size, as in browsers, and not for metadata")
    func truncated() async throws {
        let tools = VipsTools()
        try tools.drawn("drawn.ppm", 400, 300)
        let workers = try BuiltWorkers.make()
        for (operation, name) in [("jpegsave", "plain.jpg"), ("pngsave", "plain.png"), ("webpsave", "plain.webp")] {
            try tools.vips(operation, "drawn.ppm", name)
            let whole = try tools.bytes(name)
            let half = Array(whole.prefix(whole.count / 2))
            // libvips decodes a WebP only as a whole.
            for format in name == "plain.webp" ? [nil, .png] : [ImageFormat?.none] {
                let failure = await #expect(throws: ImageError.self) {
                    try await workers.transform(half, TransformJob(width: 50, format: format), priority: .visible)
                }
                #expect(failure?.code == "undecodable", "\(name)")
            }
            guard name != "plain.webp" else { continue }
            let part = try await workers.transform(half, TransformJob(width: 50, format: .png), priority: .visible)
            #expect(part.isPart && part.width == 50 && part.originalHeight == 300, "\(name)")
            #expect(try await workers.transform(whole, TransformJob(width: 50, format: .png), priority: .visible).isPart == false)
        }
        await workers.shutDown()
    }

    @Test("What is there of an image with an end and missing data is decoded for a size, and not for metadata")
    func endedEarly() async throws {
        let tools = VipsTools()
        try tools.drawn("drawn.ppm", 400, 300)
        let workers = try BuiltWorkers.make()
        var images: [(name: String, bytes: [UInt8])] = []
        for options in [[], ["--interlace"]] {
            try #require(try tools.run("vips", ["jpegsave", "drawn.ppm", "plain.jpg"] + options) != nil)
            let whole = try tools.bytes("plain.jpg")
            images.append(("half a JPEG \(options)", whole.prefix(whole.count / 2) + [0xff, 0xd9]))
        }
        try tools.vips("pngsave", "drawn.ppm", "plain.png")
        var png = try tools.bytes("plain.png")
        // Twice as high as the data have rows for, with the sum of the header's bytes that belongs to that.
        png.replaceSubrange(20..<24, with: [0, 0, 2, 88])
        png.replaceSubrange(29..<33, with: (0..<4).map { UInt8(truncatingIfNeeded: VipsTools.sum(png[12..<29]) >> (24 - 8 * $0)) })
        images.append(("half a PNG", png))
        for (name, bytes) in images {
            let failure = await #expect(throws: ImageError.self, "\(name)") {
                try await workers.transform(bytes, TransformJob(), priority: .visible)
            }
            #expect(failure?.code == "undecodable", "\(name)")
            #expect(try await workers.transform(bytes, TransformJob(width: 50, format: .png), priority: .visible).isPart, "\(name)")
        }
        await workers.shutDown()
    }
}
