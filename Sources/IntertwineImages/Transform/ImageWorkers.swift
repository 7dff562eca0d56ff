internal import CIntertwineLinux
internal import Glibc
package import IntertwineHTTPServer
internal import IntertwinePrimitives
package import Logging
internal import Synchronization

/// Each has only a socket to the service, so an exploit in the bytes of an image is confined to one worker.
package final class ImageWorkers: ImageTransformer {
    package struct Configuration: Sendable {
        package var path: String?
        /// Each processes one image at a time on one processor.
        package var count = 2 * Processors.count
        /// The memory of a worker in bytes, libraries included. It determines the largest images.
        package var memory = 1 << 30
        package var timeLimit: Duration = .seconds(10)
        package var queue = 256
        package var queueTimeout: Duration = .seconds(10)
        package var logger = Logger(label: "intertwine.images")

        package init() {}
    }

    private static let program = "intertwine-image-worker"

    private let loop: EventLoop
    private let pool: WorkerPool?
    /// Why lower than the time limit: other work uses the processor, too.
    private let animationLimit: Duration
    private let limits: ImageLimits

    package init(_ configuration: Configuration) throws(EventLoopError) {
        loop = try EventLoop(label: "images")
        let path = configuration.path ?? Self.besideThisProgram()
        animationLimit = configuration.timeLimit * 3 / 5
        limits = ImageLimits(memory: configuration.memory)
        guard access(path, X_OK) == 0, let starter = WorkerStarter() else {
            pool = nil
            configuration.logger.warning(
                "images are not resized: \(Self.program) is missing", metadata: ["path": "\(path)"])
            return
        }
        let pool = WorkerPool(configuration, path: path, loop: loop, starter: starter)
        self.pool = pool
        pool.execute { $0.start() }
    }

    deinit {
        let (loop, pool) = (loop, pool)
        loop.execute {
            pool?.assumeIsolated { $0.shutDown() }
            loop.stop()
        }
    }

    package func shutDown() async {
        await pool?.shutDown()
        loop.stop()
    }

    /// True unless the program is missing, no worker could start at first, or ``shutDown()`` was called.
    package var isAvailable: Bool { pool?.isReady.load(ordering: .relaxed) ?? false }

    package func transform(
        _ image: [UInt8], _ job: TransformJob, urgency: TransformPriority
    ) async throws(ImageError) -> TransformResult {
        guard let pool, isAvailable else { throw ImageError(.workerFailed) }
        let (image, cost) = try ImageHeaderParser.cost(of: image, keepsAnimation: job.keepsAnimation, limits)
        if cost.frames > 1, cost.time(for: job) > animationLimit { throw ImageError(.tooManyFrames) }
        return try await pool.perform(job, on: image, pixels: limits.cost(ofPixels: cost.pixels, cost.decoding), urgency).get()
    }

    package func facts(of image: [UInt8], urgency: TransformPriority) async throws(ImageError) -> ImageMetadata {
        ImageMetadata(try await transform(image, TransformJob(), urgency: urgency))
    }

    static func fits(_ result: TransformResult, _ job: TransformJob) -> Bool {
        guard let format = job.format else { return result.bytes.isEmpty }
        guard result.width > 0, result.height > 0, result.width <= ImageLimits.longestSide, result.height <= ImageLimits.longestSide
        else {
            return false
        }
        return ImageFormat.sniff(Array(result.bytes.prefix(256))) == .kind(format)
    }

    private static func besideThisProgram() -> String {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink("/proc/self/exe", &target, target.count - 1)
        let own = length > 0 ? String(decoding: target.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self) : ""
        return (own.lastIndex(of: "/").map { String(own[...$0]) } ?? "./") + program
    }
}

extension ImageHeaderParser {
    fileprivate static func cost(
        of image: [UInt8], keepsAnimation: Bool, _ limits: ImageLimits
    ) throws(ImageError) -> (image: [UInt8], cost: DecodingCost) {
        guard case .kind(let kind) = ImageFormat.sniff(Array(image.prefix(512))) else { throw ImageError(.undecodable) }
        // Browsers show a JPEG that lacks only its end marker, and libvips refuses it. A further marker behind the image has no effect.
        let image = kind == .jpeg && !image.suffix(2).elementsEqual(ImageFormat.jpegEndMarker) ? image + ImageFormat.jpegEndMarker : image
        var reader = ImageHeaderParser(kind, limits: limits)
        var place = 0
        // The bytes are consumed in pieces, because the parser buffers unparsed ones.
        while place < image.count, reader.error == nil {
            let end = min(place + 16_384, image.count)
            reader.consume(image[place..<end])
            place = end
        }
        if let fault = reader.error { throw ImageError(fault) }
        // An AVIF may declare its dimensions in boxes that this parser does not read.
        guard case .size(let size) = reader.finding else {
            throw ImageError(kind == .avif && kind.isComplete(image, isDelimited: true) ? .noDecoder : .undecodable)
        }
        return (image, DecodingCost(size: size, decoding: reader.decoding, frames: keepsAnimation ? reader.frames : 1))
    }
}

private struct DecodingCost {
    // Nanoseconds, measured with libvips 8.14 on one processor of a cloud machine, and rounded up.
    private static let pixelRead = 20.0
    private static let pixelMade = 100.0
    private static let gifPixelMade = 200.0
    private static let frame = 300_000.0

    let size: ImageDimensions
    let decoding: ImageLimits.Decoding
    let frames: Int

    var pixels: Int { size.width * size.height * frames }

    func time(for job: TransformJob) -> Duration {
        let across = job.width > 0 ? Double(job.width) / Double(size.width) : 0
        let down = job.height > 0 ? Double(job.height) / Double(size.height) : 0
        let scale = across + down > 0 ? min(1, max(across, down)) : 1
        let read = Double(size.width * size.height)
        let made = read * scale * scale * (job.format == .gif ? Self.gifPixelMade : Self.pixelMade)
        return .nanoseconds(Int64((Self.frame + read * Self.pixelRead + made) * Double(frames)))
    }
}

extension ImageMetadata {
    init(_ result: TransformResult) {
        self.init(
            width: result.originalWidth, height: result.originalHeight, frames: result.frames, hasAlpha: result.hasAlpha,
            color: "#" + Hexadecimal.text([result.color.red, result.color.green, result.color.blue]), thumbHash: result.thumbHash)
    }
}

extension ImageError {
    init(_ refusal: TransformRejection) {
        switch refusal {
        case .undecodable: self.init(Reason.undecodable)
        case .tooManyPixels: self.init(Reason.tooManyPixels)
        case .cancelled: self.init(Reason.cancelled)
        case .unencodable: self.init(Reason.workerFailed)
        case .unsupported: self.init(Reason.noDecoder)
        }
    }
}
