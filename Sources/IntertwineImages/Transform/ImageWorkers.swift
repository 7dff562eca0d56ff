internal import CIntertwineLinux
internal import Glibc
public import IntertwineEventLoop
internal import IntertwinePictureWire
internal import IntertwinePrimitives
public import Logging

/// Pictures made by processes of our own (`intertwine-pictures`), which are locked in: they have a socket to this one and nothing else, and
/// whatever the bytes of a picture do to one of them ends there.
public final class ImageWorkers: ImageTransformer {
    public struct Configuration: Sendable {
        /// Of the worker's program; nil for the one beside the program that runs.
        public var path: String?
        /// How many there are: each does one picture at a time, on one processor. No origin and no viewer uses more than half of them, which
        /// is all processors.
        public var count = 2 * processors
        /// How long a worker may take for one picture.
        public var timeLimit: Duration = .seconds(10)
        /// How many may wait for a worker, and how long.
        public var queue = 256
        public var queueTimeout: Duration = .seconds(10)
        public var logger = Logger(label: "intertwine.pictures")

        public init() {}

        /// Those that this process may use.
        public static var processors: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }
    }

    private static let program = "intertwine-pictures"

    private let loop: EventLoop
    private let pool: WorkerPool?
    private let isReady: Flag
    /// What an animation may take, as it is estimated. Others use the processor, too.
    private let animationLimit: Duration

    /// Starts the workers. Without their program there are none, which is logged.
    ///
    /// - Throws: `EventLoopError` where the process has no descriptor left.
    public init(_ configuration: Configuration) throws(EventLoopError) {
        loop = try EventLoop(label: "pictures")
        let path = configuration.path ?? Self.besideThisProgram()
        let isThere = access(path, X_OK) == 0
        isReady = Flag(isThere)
        animationLimit = configuration.timeLimit * 3 / 5
        guard isThere, let starter = WorkerStarter() else {
            isReady.set(false)
            pool = nil
            configuration.logger.warning(
                "pictures are served as they are: there is no \(Self.program) to resize them", metadata: ["path": "\(path)"])
            return
        }
        let pool = WorkerPool(configuration, path: path, loop: loop, starter: starter, isReady: isReady)
        self.pool = pool
        loop.execute { pool.assumeIsolated { $0.start() } }
    }

    deinit {
        let (loop, pool) = (loop, pool)
        loop.execute {
            pool?.assumeIsolated { $0.shutDown() }
            loop.stop()
        }
    }

    /// Ends all work, and the workers.
    public func shutDown() async {
        guard let pool else { return loop.stop() }
        await withCheckedContinuation { continuation in
            loop.execute {
                pool.assumeIsolated { $0.shutDown() }
                continuation.resume()
            }
        }
        loop.stop()
    }

    public var isAvailable: Bool { isReady.isSet }

    public func transform(
        _ picture: [UInt8], _ recipe: TransformSpec, urgency: TransformPriority
    ) async throws(ImageError) -> TransformedImage {
        let job = TransformJob(recipe)
        let result = try await perform(job, on: picture, keepsAnimation: job.keepsAnimation, urgency)
        return TransformedImage(
            bytes: result.bytes, kind: recipe.format, width: result.width, height: result.height, original: ImageMetadata(result))
    }

    public func facts(of picture: [UInt8], urgency: TransformPriority) async throws(ImageError) -> ImageMetadata {
        ImageMetadata(try await perform(TransformJob(id: 0), on: picture, keepsAnimation: false, urgency))
    }

    private func perform(
        _ job: TransformJob, on picture: [UInt8], keepsAnimation: Bool, _ urgency: TransformPriority
    ) async throws(ImageError) -> TransformResult {
        guard let pool, isAvailable else { throw ImageError(.workerFailed) }
        let (picture, cost) = try ImageHeaderParser.cost(of: picture, keepsAnimation: keepsAnimation)
        if cost.frames > 1, cost.time(for: job) > animationLimit { throw ImageError(.tooManyFrames) }
        let pixels = cost.pixels
        let ticket = TransformCancellation()
        urgency.listen { [loop] in
            loop.execute { pool.assumeIsolated { $0.prioritize(ticket, urgency.priority, urgency.owners) } }
        }
        defer { urgency.listen(nil) }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                loop.execute {
                    pool.assumeIsolated {
                        $0.submit(job, picture, pixels: pixels, urgency, ticket) { continuation.resume(returning: $0) }
                    }
                }
            }
        } onCancel: {
            ticket.cancel()
            loop.execute { pool.assumeIsolated { $0.cancel(ticket) } }
        }
        return try result.get()
    }

    /// Whether a worker's answer can be one to this job: it may be that of a picture that has taken it over.
    static func fits(_ result: TransformResult, _ job: TransformJob) -> Bool {
        guard let format = job.format else { return result.bytes.isEmpty }
        guard result.width > 0, result.height > 0, result.width <= TransformJob.longestSide, result.height <= TransformJob.longestSide
        else {
            return false
        }
        return ImageFormat.sniff(Array(result.bytes.prefix(256))) == ImageFormat(rawValue: format.rawValue).map { .kind($0) }
    }

    /// Where a package, a container and a build put it.
    private static func besideThisProgram() -> String {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink("/proc/self/exe", &target, target.count - 1)
        let own = length > 0 ? String(decoding: target.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self) : ""
        return (own.lastIndex(of: "/").map { String(own[...$0]) } ?? "./") + program
    }
}

extension ImageHeaderParser {
    /// What has to be decoded, by what the picture says of itself: the picture, with an end if it lacks one.
    ///
    /// - Throws: `tooManyPixels`, `tooManyFrames`, `undecodable` and `noDecoder`.
    fileprivate static func cost(
        of picture: [UInt8], keepsAnimation: Bool
    ) throws(ImageError) -> (picture: [UInt8], cost: DecodingCost) {
        guard case .kind(let kind) = ImageFormat.sniff(Array(picture.prefix(512))) else { throw ImageError(.undecodable) }
        // Decoders make something of a picture whose end is missing, whatever they are told.
        guard let picture = kind.completed(picture) else { throw ImageError(.undecodable) }
        var reader = ImageHeaderParser(kind)
        var place = 0
        // In pieces, as it keeps what it has not understood.
        while place < picture.count, reader.error == nil {
            let end = min(place + 16_384, picture.count)
            reader.consume(picture[place..<end])
            place = end
        }
        if let fault = reader.error { throw ImageError(fault) }
        // Of an AVIF that says its size elsewhere, others may know where.
        guard case .size(let size) = reader.finding else { throw ImageError(kind == .avif ? .noDecoder : .undecodable) }
        return (picture, DecodingCost(size: size, frames: keepsAnimation ? reader.frames : 1))
    }
}

/// What it takes to make something of a picture.
private struct DecodingCost {
    // Nanoseconds, measured with libvips 8.14 on one processor of a cloud's machine, and on the side of too many.
    private static let pixelRead = 20.0
    private static let pixelMade = 100.0
    private static let gifPixelMade = 200.0
    private static let frame = 300_000.0

    let size: ImageDimensions
    let frames: Int

    var pixels: Int { size.width * size.height * frames }

    /// About how long an animation takes.
    func time(for job: TransformJob) -> Duration {
        let across = job.width > 0 ? Double(job.width) / Double(size.width) : 0
        let down = job.height > 0 ? Double(job.height) / Double(size.height) : 0
        let scale = across + down > 0 ? min(1, max(across, down)) : 1
        let read = Double(size.width * size.height)
        let made = read * scale * scale * (job.format == .gif ? Self.gifPixelMade : Self.pixelMade)
        return .nanoseconds(Int64((Self.frame + read * Self.pixelRead + made) * Double(frames)))
    }
}

extension TransformJob {
    fileprivate init(_ recipe: TransformSpec) {
        self.init(
            id: 0, width: recipe.width ?? 0, height: recipe.height ?? 0, format: OutputFormat(rawValue: recipe.format.rawValue),
            quality: recipe.quality ?? 0, keepsAnimation: recipe.keepsAnimation && (recipe.format == .gif || recipe.format == .webp))
        guard case .fill(let focus) = recipe.fit else { return }
        switch focus {
        case .centre: cut = .centre
        case .attention: cut = .attention
        case .point(let x, let y):
            cut = .point
            (self.x, self.y) = (TransformSpec.thousandths(x), TransformSpec.thousandths(y))
        }
    }
}

extension ImageMetadata {
    fileprivate init(_ result: TransformResult) {
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
