import Foundation
import TestSupport
import Testing

@testable import IntertwineImages

@Suite("Worker processes", .serialized, .timeLimit(.untilStuck))
struct WorkerTests {
    private static let small = TransformJob(width: 32, format: .png)
    /// Seconds of work, in an encoder that does not ask whether it should stop.
    private static let long = TransformJob(format: .avif, quality: 90)

    private static func image(_ tools: VipsTools, _ width: Int, _ height: Int) throws -> [UInt8] {
        try tools.drawn("\(width).ppm", width, height)
        try tools.vips("jpegsave", "\(width).ppm", "\(width).jpg")
        return try tools.bytes("\(width).jpg")
    }

    /// A worker that has made an image, and is in the middle of one that takes long.
    private struct Busy {
        let workers: ImageWorkers
        let worker: pid_t
        let large, little: [UInt8]
        let work: Task<TransformResult, any Error>
        /// Others that there were before.
        let others: [pid_t]

        init(timeLimit: Duration = .seconds(60)) async throws {
            let tools = VipsTools()
            let (large, little) = (try image(tools, 4_000, 3_000), try image(tools, 64, 64))
            others = BuiltWorkers.processes
            let workers = try BuiltWorkers.make(timeLimit: timeLimit)
            _ = try await workers.transform(little, small, priority: .visible)
            worker = try only(others)
            work = Task { try await workers.transform(large, long, priority: .visible) }
            (self.workers, self.large, self.little) = (workers, large, little)
            try await BuiltWorkers.working(worker)
        }
    }

    private static func only(_ before: [pid_t]) throws -> pid_t {
        try #require(BuiltWorkers.processes.first { !before.contains($0) })
    }

    @Test("A worker has only a socket, and is sandboxed")
    func lockedIn() async throws {
        let tools = VipsTools()
        let before = BuiltWorkers.processes
        let workers = try BuiltWorkers.make()
        _ = try await workers.transform(try Self.image(tools, 64, 64), Self.small, priority: .visible)
        let worker = try Self.only(before)
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(worker)/fd")
        #expect(descriptors == ["0"])
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(worker)/fd/0").hasPrefix("socket:"))
        #expect(BuiltWorkers.status(worker, "Seccomp") == "2")
        #expect(BuiltWorkers.status(worker, "NoNewPrivs") == "1")
        #expect(try Data(contentsOf: URL(fileURLWithPath: "/proc/\(worker)/environ")).isEmpty)
        await workers.shutDown()
        try await BuiltWorkers.gone(worker)
    }

    @Test("The sandbox denies files, sockets, processes and executable memory")
    func attempts() async throws {
        let check = try SpawnedProcess([BuiltProduct.path("intertwine-image-worker"), "check"])
        var lines: [String] = []
        while let line = try check.nextLine() { lines.append(line) }
        #expect(check.wait() == 0)
        #expect(lines.count { $0.hasPrefix("cannot ") } == 9 && !lines.contains { $0.hasPrefix("CAN ") }, "\(lines)")
    }

    @Test("A worker killed during an image fails that image, and is replaced")
    func killed() async throws {
        let busy = try await Busy()
        let waiting = Task { try await busy.workers.transform(busy.little, Self.small, priority: .visible) }
        kill(busy.worker, SIGKILL)
        let failure = await #expect(throws: ImageError.self) { try await busy.work.value }
        #expect(failure?.status == 502 && failure?.code == "worker-failed")
        #expect(try await waiting.value.width == 32)
        #expect(busy.workers.isAvailable)
        await busy.workers.shutDown()
    }

    @Test("A stopped worker fails one image, and is replaced at its timeout")
    func stopped() async throws {
        let tools = VipsTools()
        let little = try Self.image(tools, 64, 64)
        let before = BuiltWorkers.processes
        let workers = try BuiltWorkers.make(timeLimit: .milliseconds(1_500))
        _ = try await workers.transform(little, Self.small, priority: .visible)
        let worker = try Self.only(before)
        kill(worker, SIGSTOP)
        let failure = await #expect(throws: ImageError.self) { try await workers.transform(little, Self.small, priority: .visible) }
        #expect(failure?.code == "worker-failed")
        try await BuiltWorkers.gone(worker)
        #expect(try await workers.transform(little, Self.small, priority: .visible).width == 32)
        await workers.shutDown()
    }

    @Test("Two consecutive kills fail one image, and resizing stays available")
    func killedTwice() async throws {
        let busy = try await Busy()
        kill(busy.worker, SIGKILL)
        await #expect(throws: ImageError.self) { try await busy.work.value }
        let waiting = Task { try await busy.workers.transform(busy.little, Self.small, priority: .visible) }
        // The one that takes its place, while it makes itself ready.
        var next: pid_t?
        while next == nil { next = BuiltWorkers.processes.first { !busy.others.contains($0) && $0 != busy.worker } }
        if let next { kill(next, SIGKILL) }
        #expect(busy.workers.isAvailable)
        #expect(try await waiting.value.width == 32)
        #expect(busy.workers.isAvailable)
        await busy.workers.shutDown()
    }

    @Test("A cancelled job ends, and its worker continues with others")
    func cancelled() async throws {
        let busy = try await Busy()
        let waiting = Task { try await busy.workers.transform(busy.large, Self.long, priority: .near) }
        busy.work.cancel()
        let failure = await #expect(throws: ImageError.self) { try await busy.work.value }
        #expect(failure?.code == "cancelled")
        // Its slot is given to the one that waits, which is taken back as well.
        waiting.cancel()
        await #expect(throws: ImageError.self) { try await waiting.value }
        #expect(try await busy.workers.transform(busy.little, Self.small, priority: .visible).width == 32)
        await busy.workers.shutDown()
    }

    @Test("A worker that ignores a cancellation is killed before its timeout, and replaced")
    func abandoned() async throws {
        let busy = try await Busy(timeLimit: .seconds(600))
        // It hears nothing from here on.
        kill(busy.worker, SIGSTOP)
        busy.work.cancel()
        await #expect(throws: ImageError.self) { try await busy.work.value }
        try await BuiltWorkers.gone(busy.worker)
        #expect(try await busy.workers.transform(busy.little, Self.small, priority: .visible).width == 32)
        await busy.workers.shutDown()
    }

    @Test("An animation that would exceed the time limit is refused before decoding; a shorter one is not", arguments: [3_000, 100])
    func animations(_ frames: Int) async throws {
        let workers = try BuiltWorkers.make(timeLimit: .seconds(1))
        let recipe = TransformJob(width: 32, format: .webp, keepsAnimation: true)
        do {
            _ = try await workers.transform(Frames.gif(100, 100, frames: frames), recipe, priority: .visible)
            #expect(frames == 100)
        } catch {
            #expect((error.reason == .tooManyFrames) == (frames == 3_000))
        }
        await workers.shutDown()
    }

    @Test("Compressed texts of a PNG are skipped")
    func texts() async throws {
        let tools = VipsTools()
        try tools.drawn("plain.ppm", 40, 30)
        try tools.vips("pngsave", "plain.ppm", "plain.png")
        let plain = try tools.bytes("plain.png")
        // Behind the header, which is the first chunk.
        let bomb = plain.prefix(33) + (0..<100).flatMap { _ in Self.bomb } + plain.dropFirst(33)
        let workers = try BuiltWorkers.make(timeLimit: .seconds(10))
        let expected = try await workers.transform(plain, Self.small, priority: .visible)
        #expect(try await workers.transform(Array(bomb), Self.small, priority: .visible).bytes == expected.bytes)
        await workers.shutDown()
    }

    /// A text of 7.5 MiB, in some 40 KiB: what decoders take at the most.
    private static let bomb: [UInt8] = {
        func big(_ number: Int) -> [UInt8] { withUnsafeBytes(of: UInt32(number).bigEndian) { Array($0) } }
        let text = [UInt8](repeating: 0x61, count: 15 << 19)
        let (first, second) = text.reduce((1, 0)) { (($0.0 + Int($1)) % 65_521, ($0.1 + $0.0 + Int($1)) % 65_521) }
        // As zlib has it (RFC 1950): what lies between head and tail of gzip, with a head and an Adler-32 of its own.
        let packed = [0x78, 0x01] + gzipped(text).dropFirst(10).dropLast(8) + big(second << 16 | first)
        let body = Array("zTXt".utf8) + Array("Comment".utf8) + [0, 0] + packed
        return big(body.count - 4) + body + big(Int(VipsTools.sum(body[...])))
    }()

    @Test(
        "Without the program resizing is unavailable, without side effects", arguments: ["/nowhere/intertwine-image-worker", "/bin/false"])
    func missing(_ path: String) async throws {
        let workers = try BuiltWorkers.make(path: path)
        let failure = await #expect(throws: ImageError.self) {
            try await workers.transform(TestImage.jpeg + TestImage.jpeg, Self.small, priority: .visible)
        }
        #expect(failure != nil)
        while workers.isAvailable { try await Task.sleep(for: .milliseconds(5)) }
        await workers.shutDown()
    }

    @Test("A worker that sends endless data is replaced")
    func talkative() async throws {
        let tools = VipsTools()
        let hello: [UInt8] = [16, 5, 0, 0, 0, 1, 1, 1, 1, 0x78]
        let failed: [UInt8] = [18, 5, 0, 0, 0, 1, 0, 0, 0, 1]
        try tools.write(hello, "hello")
        try tools.write((0..<100_000).flatMap { _ in failed }, "flood")
        let (hi, flood, starts, script) = (tools.path("hello"), tools.path("flood"), tools.path("starts"), tools.path("script"))
        try tools.write(
            Array("#!/bin/sh\necho . >>\(starts)\n/bin/cat \(hi) >&0\nwhile /bin/cat \(flood) >&0; do :; done\n".utf8), "script")
        #expect(chmod(script, 0o755) == 0)
        let workers = try BuiltWorkers.make(path: script)
        while (try? tools.bytes("starts").count) ?? 0 < 4 { try await Task.sleep(for: .milliseconds(5)) }
        await workers.shutDown()
    }

    @Test("110 hostile images neither end the service nor fill its memory, and the next valid one is resized")
    func hostile() async throws {
        let tools = VipsTools()
        let images = try HostileImages.all(tools)
        #expect(images.count >= 110)
        let good = try Self.image(tools, 640, 480)
        let workers = try BuiltWorkers.make(count: 2, timeLimit: .seconds(20))
        _ = try await workers.transform(good, Self.small, priority: .visible)
        let before = ProcessFacts.residentKiB
        var results: [String: Int] = [:]
        for (number, (name, bytes)) in images.enumerated() {
            let recipe = TransformJob(
                width: 100, height: 100, cut: .attention, format: [.webp, .gif, .jpeg, .png][number % 4],
                keepsAnimation: number % 2 == 0)
            do throws(ImageError) {
                let made = try await workers.transform(bytes, recipe, priority: .visible)
                results["made", default: 0] += 1
                #expect(made.bytes.count < 1 << 20, "\(name)")
            } catch {
                results[error.code, default: 0] += 1
                #expect([415, 502].contains(error.status), "\(name): \(error.code)")
            }
        }
        print("hostile images: \(results)")
        #expect(ProcessFacts.residentKiB - before < 64 * 1_024)
        #expect(try await workers.transform(good, Self.small, priority: .visible).width == 32)
        await workers.shutDown()
    }
}

/// Bombs, lies, cuts and noise. The same in every run.
private enum HostileImages {
    static func all(_ tools: VipsTools) throws -> [(String, [UInt8])] {
        try tools.drawn("drawn.ppm", 200, 150)
        try tools.vips("arrayjoin", "drawn.ppm drawn.ppm drawn.ppm", "strip.v", "--across", "1")
        let makers = [
            ("jpeg", "jpegsave", []), ("png", "pngsave", []), ("gif", "gifsave", ["--page-height", "150"]),
            ("webp", "webpsave", ["--page-height", "150"]), ("avif", "heifsave", ["--compression", "av1"]),
        ]
        var all: [(String, [UInt8])] = [("empty", []), ("one byte", [0xff])]
        var random = SeededRandom(seed: 7)
        for (name, operation, options) in makers {
            let source = name == "gif" || name == "webp" ? "strip.v" : "drawn.ppm"
            #expect(try tools.run("vips", [operation, source, "whole.\(name)"] + options) != nil)
            let whole = try tools.bytes("whole.\(name)")
            for share in [10, 25, 50, 75, 98] { all.append(("\(name) cut at \(share) %", Array(whole.prefix(whole.count * share / 100)))) }
            for seed in 0..<10 {
                var flipped = whole
                for _ in 0..<(1 << (seed / 2)) {
                    let place = Int.random(in: 8..<flipped.count, using: &random)
                    flipped[place] ^= UInt8.random(in: 1...255, using: &random)
                }
                all.append(("\(name) with noise \(seed)", flipped))
            }
            for length in [40, 1_000, 100_000] {
                let noise = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
                all.append(("\(name) of noise, \(length)", whole.prefix(32) + noise))
            }
            all.append(("\(name) twice", whole + whole))
            all.append(("\(name) before a document", whole.prefix(64) + Array("<svg xmlns='http://www.w3.org/2000/svg'/>".utf8)))
        }
        // Lies about the size: the first gate lets none of these through.
        for side in [UInt32(16_385), 65_535, 1_000_000, 0x7fff_ffff, 0xffff_ffff] {
            let bytes = withUnsafeBytes(of: side.bigEndian) { Array($0) }
            var png = try tools.bytes("whole.png")
            png.replaceSubrange(16..<24, with: bytes + bytes)
            all.append(("png of \(side) a side", png))
        }
        // Little that becomes much: within the bounds, and decoded.
        try tools.vips("black", "black.v", "12000", "2000", "--bands", "3")
        try tools.vips("pngsave", "black.v", "bomb.png")
        all.append(("24 million black pixels", try tools.bytes("bomb.png")))
        var frames = Array("GIF89a".utf8) + [0x10, 0x27, 0x10, 0x27, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]
        for _ in 0..<50_000 { frames += [0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x4c, 1, 0] }
        all.append(("50,000 frames of 10,000 × 10,000", frames + [0x3b]))
        var little = Array("GIF89a".utf8) + [100, 0, 100, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]
        for _ in 0..<20_000 { little += [0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x4c, 1, 0] }
        all.append(("20,000 frames of 100 × 100", little + [0x3b]))
        return all
    }
}
