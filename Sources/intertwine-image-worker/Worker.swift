internal import CImageSandbox
internal import CVips
internal import Glibc
internal import IntertwineImageWire

/// The worker process: decodes, resizes and encodes images for the service, which starts it and communicates over a socket as standard
/// input.
/// The worker does one job at a time, and enters its sandbox before the first.
@main
struct Worker {
    private static let mostSeconds: UInt64 = 3_600
    fileprivate static let service: Int32 = 0
    /// Safe: the variable is used on the main thread only.
    private nonisolated(unsafe) static var hasUntrimmedMemory = false

    static func main() {
        let argument = CommandLine.arguments.dropFirst().first
        // The service passes the bytes of memory.
        if let memory = argument.flatMap({ Int($0) }), memory > 0 { work(ImageLimits(memory: memory)) }
        switch argument {
        case "check": exit(SandboxCheck.run { lockIn(ImageLimits()) })
        default:
            print("intertwine starts intertwine-image-worker to decode images.")
            print("intertwine-image-worker check: reports which parts of the sandbox this system supports")
            exit(CommandLine.arguments.count > 1 ? 64 : 0)
        }
    }

    /// Runs the job loop, and never returns.
    private static func work(_ limits: ImageLimits) -> Never {
        _ = sandbox_die_with_parent()
        // A worker without a job for two seconds returns memory to the system.
        var idle = timeval(tv_sec: 2, tv_usec: 0)
        _ = setsockopt(service, SOL_SOCKET, SO_RCVTIMEO, &idle, socklen_t(MemoryLayout<timeval>.size))
        // The lower priority leaves the processor to the other requests of the service.
        _ = nice(5)
        let report = lockIn(limits)
        // Messages of libraries do not belong in the log of the service.
        close(1)
        close(2)
        send(WorkerMessage.hello(report).frame)
        while true { next(limits) }
    }

    private static func lockIn(_ limits: ImageLimits) -> WorkerReport {
        guard cvips_start() == 0 else { fail("libvips does not start") }
        Transformation.warmUp()
        let landlock = sandbox_landlock()
        let isLimited = sandbox_limit(UInt64(limits.memory), mostSeconds) == 0
        let seccomp = sandbox_seccomp()
        let version = String(cString: vips_version_string()).split(separator: "-").first.map(String.init) ?? "?"
        return WorkerReport(hasSeccomp: seccomp == 0, landlock: Int(max(0, landlock)), hasLimits: isLimited, library: version)
    }

    private static func next(_ limits: ImageLimits) {
        let head = receive(WireFrame.headLength)
        defer { head.deallocate() }
        guard let (type, length) = WireFrame.head(UnsafeRawBufferPointer(head)) else { exit(2) }
        let body = receive(length)
        defer { body.deallocate() }
        switch type {
        case .job:
            guard let (job, bytes) = TransformJob.read(UnsafeRawBufferPointer(body)) else { exit(2) }
            let image = UnsafeMutableRawBufferPointer(mutating: bytes)
            AVIFBrand.normalize(image)
            perform(job, PNGTextChunks.removed(from: image), limits)
        // The cancellation arrived after the end of its job.
        case .cancel: break
        default: exit(2)
        }
    }

    private static func perform(_ job: TransformJob, _ image: UnsafeRawBufferPointer, _ limits: ImageLimits) {
        do throws(TransformRejection) {
            let (result, encoded) = try transform(job, image, limits)
            send(WorkerMessage.head(job.id, result, before: encoded?.bytes.count ?? 0))
            if let encoded { send(encoded.bytes) }
        } catch {
            send(WorkerMessage.failed(id: job.id, isCalledOff() ? .cancelled : error).frame)
        }
        vips_error_clear()
        hasUntrimmedMemory = true
    }

    /// Browsers show what is there of an image, so a damaged one is decoded a second time, up to its damage.
    private static func transform(
        _ job: TransformJob, _ image: UnsafeRawBufferPointer, _ limits: ImageLimits
    ) throws(TransformRejection) -> (TransformResult, EncodedImage?) {
        do throws(TransformRejection) {
            return try Transformation(job, image, limits).run()
        } catch {
            guard error == .undecodable, job.format != nil, !isCalledOff() else { throw error }
            vips_error_clear()
            return try Transformation(job, image, limits, takesPart: true).run()
        }
    }

    static func isCalledOff() -> Bool {
        var byte: UInt8 = 0
        let count = recv(service, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
        if count == 0 { exit(0) }
        return count > 0
    }

    private static func trim() {
        guard hasUntrimmedMemory else { return }
        hasUntrimmedMemory = false
        cvips_trim()
    }

    private static func receive(_ count: Int) -> UnsafeMutableRawBufferPointer {
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        var filled = 0
        while filled < count, let base = bytes.baseAddress {
            let more = read(service, base + filled, count - filled)
            if more < 0 && errno == EINTR { continue }
            if more < 0 && errno == EAGAIN {
                trim()
                continue
            }
            guard more > 0 else { exit(0) }
            filled += more
        }
        return bytes
    }

    private static func send(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { send($0) }
    }

    private static func send(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes
        while !rest.isEmpty {
            let sent = write(service, rest.baseAddress, rest.count)
            if sent < 0 && errno == EINTR { continue }
            guard sent > 0 else { exit(0) }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(sent))
        }
    }

    private static func fail(_ text: String) -> Never {
        print("intertwine-image-worker: \(text): \(String(cString: vips_error_buffer()))")
        exit(70)
    }
}
