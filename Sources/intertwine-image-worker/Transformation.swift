internal import CVips
internal import IntertwineImageWire

struct Transformation {
    /// A value that libvips treats as no limit for a side.
    private static let anySide = 10_000_000

    private let job: TransformJob
    private let imageBytes: UnsafeRawBufferPointer
    /// They stop decompression bombs.
    private let limits: ImageLimits
    private let takesPart: Bool

    /// `takesPart`: decodes what is there of an image, instead of refusing it.
    init(_ job: TransformJob, _ image: UnsafeRawBufferPointer, _ limits: ImageLimits, takesPart: Bool = false) {
        (self.limits, self.takesPart) = (limits, takesPart)
        self.job = job
        self.imageBytes = image
    }

    func run() throws(TransformRejection) -> (TransformResult, EncodedImage?) {
        guard case .kind = ImageFormat.sniff(Array(imageBytes.prefix(512))) else { throw .undecodable }
        guard let header = DecodedImage(cvips_open(imageBytes.baseAddress, imageBytes.count, takesPart)) else {
            throw DecoderMessage.refusal(imageBytes)
        }
        let original = try size(of: header)
        let isAnimated = job.keepsAnimation && header.frames > 1 && (job.format == .gif || job.format == .webp)
        let plan = Plan(job, original)
        // All output frames are in memory together.
        let frames = isAnimated ? header.frames : 1
        guard plan.scaled.width * plan.scaled.height <= limits.mostPixels / frames,
            !isAnimated || original.width * original.height <= ImageLimits.mostAnimatedPixels / frames
        else { throw .tooManyPixels }
        let pixels = try decode(plan, hasProfile: header.hasProfile, isAnimated: isAnimated)
        let first = isAnimated ? try part(of: pixels, 0, 0, pixels.width, pixels.frameHeight) : pixels
        let preview = try preview(first, header, original)
        var result = TransformResult(
            width: 0, height: 0, originalWidth: original.width, originalHeight: original.height, frames: header.frames,
            hasAlpha: header.hasAlpha, color: preview.color, thumbHash: preview.thumbHash, isPart: takesPart)
        guard let format = job.format else { return (result, nil) }
        let cropped = try cut(pixels, plan, isAnimated: isAnimated, first)
        result.width = cropped.width
        result.height = isAnimated ? cropped.height / pixels.frames : cropped.height
        return (result, try encode(cropped, format, frameHeight: isAnimated ? result.height : nil))
    }

    /// Returns the placeholder of the image from a minimum number of pixels. Why: the placeholder must not depend on the requested size.
    private func preview(
        _ first: DecodedImage, _ header: DecodedImage, _ original: (width: Int, height: Int)
    ) throws(TransformRejection) -> ImagePlaceholderEncoder {
        let enough = min(ImagePlaceholderEncoder.longestSide, max(original.width, original.height))
        if max(first.width, first.height) >= enough { return ImagePlaceholderEncoder(first) }
        let facts = Plan(TransformJob(), original)
        return ImagePlaceholderEncoder(try decode(facts, hasProfile: header.hasProfile, isAnimated: false))
    }

    private func size(of header: DecodedImage) throws(TransformRejection) -> (width: Int, height: Int) {
        let (width, height) = (header.width, header.frameHeight)
        guard width > 0, height > 0 else { throw .undecodable }
        guard limits.accepts(width: width, height: height, header.decoding) else { throw .tooManyPixels }
        return header.isOnItsSide ? (height, width) : (width, height)
    }

    private func decode(_ plan: Plan, hasProfile: Bool, isAnimated: Bool) throws(TransformRejection) -> DecodedImage {
        let width = plan.isBoundByWidth ? plan.scaled.width : Self.anySide
        let height = plan.isBoundByHeight ? plan.scaled.height : Self.anySide
        func made(byProfile: Bool) -> DecodedImage? {
            DecodedImage(
                cvips_thumbnail(imageBytes.baseAddress, imageBytes.count, Int32(width), Int32(height), byProfile, isAnimated, takesPart))
        }
        // libvips refuses some profiles that browsers ignore, such as one of colours in a grayscale JPEG.
        let thumbnail = made(byProfile: hasProfile) ?? (hasProfile ? made(byProfile: false) : nil)
        guard let lazy = thumbnail, let colored = lazy.isPlain ? lazy : DecodedImage(cvips_srgb(lazy.pointer))
        else { throw DecoderMessage.refusal(imageBytes) }
        cvips_watch(colored.pointer) { Worker.isCalledOff() }
        guard let pixels = DecodedImage(vips_image_copy_memory(colored.pointer)), takesPart || !cvips_ended_early() else {
            throw DecoderMessage.refusal(imageBytes)
        }
        return pixels
    }

    private func cut(_ pixels: DecodedImage, _ plan: Plan, isAnimated: Bool, _ first: DecodedImage) throws(TransformRejection)
        -> DecodedImage
    {
        guard let box = plan.box else { return pixels }
        let (width, height) = (min(box.width, pixels.width), min(box.height, first.height))
        guard width < pixels.width || height < first.height else { return pixels }
        let (left, top) = cropOrigin(width, height, first)
        guard isAnimated else { return try part(of: pixels, left, top, width, height) }
        var parts: [DecodedImage] = []
        for frame in 0..<pixels.frames {
            parts.append(try part(of: pixels, left, top + frame * pixels.frameHeight, width, height))
        }
        var pointers: [UnsafeMutablePointer<VipsImage>?] = parts.map(\.pointer)
        guard let stack = DecodedImage(cvips_stack(&pointers, Int32(pointers.count))) else { throw .unencodable }
        return stack
    }

    private func cropOrigin(_ width: Int, _ height: Int, _ first: DecodedImage) -> (left: Int, top: Int) {
        let (spareWidth, spareHeight) = (first.width - width, first.height - height)
        switch job.cut {
        case .fit, .centre: return (spareWidth / 2, spareHeight / 2)
        case .point(let x, let y):
            let left = first.width * x / 1_000 - width / 2
            let top = first.height * y / 1_000 - height / 2
            return (min(max(left, 0), spareWidth), min(max(top, 0), spareHeight))
        case .attention:
            var left: Int32 = 0
            var top: Int32 = 0
            guard cvips_attention(first.pointer, Int32(width), Int32(height), &left, &top) == 0 else {
                return (spareWidth / 2, spareHeight / 2)
            }
            return (min(max(Int(left), 0), spareWidth), min(max(Int(top), 0), spareHeight))
        }
    }

    private func part(
        of pixels: DecodedImage, _ left: Int, _ top: Int, _ width: Int, _ height: Int
    ) throws(TransformRejection) -> DecodedImage {
        guard let part = DecodedImage(cvips_crop(pixels.pointer, Int32(left), Int32(top), Int32(width), Int32(height))) else {
            throw .unencodable
        }
        return part
    }

    private func encode(
        _ pixels: DecodedImage, _ format: ImageFormat, frameHeight: Int?
    ) throws(TransformRejection) -> EncodedImage {
        let solid = format == .jpeg && pixels.hasAlpha ? DecodedImage(cvips_flatten(pixels.pointer)) : pixels
        guard let solid else { throw .unencodable }
        solid.describe(frameHeight: frameHeight)
        guard let encoded = EncodedImage(solid, format, quality: job.quality) else { throw .unencodable }
        return encoded
    }

    /// Runs every decoder and encoder once, so that all libraries are loaded before the sandbox is entered.
    static func warmUp() {
        guard let black = DecodedImage(cvips_black(32, 32)) else { return }
        for format in ImageFormat.allCases {
            guard let encoded = EncodedImage(black, format, quality: 50) else { continue }
            let job = TransformJob(width: 16, height: 8, cut: .attention, format: format)
            _ = try? Transformation(job, encoded.bytes, ImageLimits()).run()
        }
        cvips_warm_profiles(black.pointer)
        vips_error_clear()
    }
}

private struct Plan {
    private static let factsSide = 128.0

    let scaled: (width: Int, height: Int)
    let box: (width: Int, height: Int)?
    let isBoundByWidth: Bool
    let isBoundByHeight: Bool

    init(_ job: TransformJob, _ original: (width: Int, height: Int)) {
        let (width, height) = (Double(original.width), Double(original.height))
        guard job.format != nil else {
            let scale = min(1, Self.factsSide / max(width, height))
            scaled = (max(1, Int((width * scale).rounded())), max(1, Int((height * scale).rounded())))
            box = nil
            (isBoundByWidth, isBoundByHeight) = (width >= height, width < height)
            return
        }
        let across = job.width > 0 ? Double(job.width) / width : nil
        let down = job.height > 0 ? Double(job.height) / height : nil
        let isCovering = job.cut != .fit && across != nil && down != nil
        let factor = isCovering ? max(across ?? 1, down ?? 1) : min(across ?? down ?? 1, down ?? across ?? 1)
        let scale = min(1, factor)
        scaled = (max(1, Int((width * scale).rounded())), max(1, Int((height * scale).rounded())))
        // A box larger than the image keeps its aspect ratio.
        let shrunk = factor > 1 ? 1 / factor : 1
        box =
            isCovering
            ? (max(1, Int((Double(job.width) * shrunk).rounded())), max(1, Int((Double(job.height) * shrunk).rounded()))) : nil
        isBoundByWidth = scale == 1 || across == factor
        isBoundByHeight = scale == 1 || down == factor
    }
}
