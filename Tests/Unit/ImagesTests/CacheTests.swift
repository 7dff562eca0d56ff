import Foundation
import TestSupport
import Testing

@testable import IntertwineHTTPServer
@testable import IntertwineImages

@Suite("The cache in memory and on disk", .timeLimit(.untilStuck))
struct CacheTests {
    private let freshness = Freshness(
        generatedAt: 1, freshUntil: 3, localFreshUntil: 2, staleWhileRevalidateUntil: 4, staleIfErrorUntil: 5, revalidation: .shared)

    private let wanted = AcceptedFormats.anything.accepted

    private func image(_ number: Int, bytes: Int = 2_000) -> CachedImage {
        CachedImage(
            source: "http://example.com/\(number).png", kind: .png, body: TestImage.png(number, bytes: bytes), freshness: freshness,
            validators: CachedImage.Validators(
                etag: number % 2 == 0 ? "\"\(number)\"" : nil, lastModified: nil, location: "http://example.com/x"),
            terms: CachedImage.FreshnessMetadata(cacheControl: "no-cache", expires: nil, vary: "Accept"))
    }

    private func read(_ disk: DiskCache, _ source: String) async -> CachedImage? {
        await withCheckedContinuation { continuation in disk.read(source, wanted) { continuation.resume(returning: $0) } }
    }

    private func flush(_ disk: DiskCache) async {
        await withCheckedContinuation { continuation in disk.flush { continuation.resume() } }
    }

    @Test("The memory cache stays within its capacity, and evicts the least recently used")
    func memory() {
        let cache = MemoryCache(capacity: 100_000)
        var generator = SeededRandom(seed: 1)
        for number in 0..<600 {
            cache.insert(image(number, bytes: Int.random(in: 100...9_000, using: &generator)))
            #expect(cache.image("http://example.com/0.png", wanted) != nil)
            #expect(cache.bytes <= 100_000)
        }
        #expect(cache.image("http://example.com/599.png", wanted) != nil)
        #expect(cache.image("http://example.com/5.png", wanted) == nil)
        #expect(cache.evictions > 300)
        for number in 0..<600 { cache.remove("http://example.com/\(number).png") }
        #expect(cache.bytes == 0 && cache.count == 0)
    }

    @Test("An image too large for the memory cache removes the older one of its source")
    func large() {
        let cache = MemoryCache(capacity: 100_000)
        cache.insert(image(1))
        cache.insert(image(1, bytes: 100_000))
        #expect(cache.image("http://example.com/1.png", wanted) == nil)
        cache.insert(image(1, bytes: 90_000))
        #expect(cache.image("http://example.com/1.png", wanted)?.body.count == 90_000)
    }

    @Test("Large images are in memory files, bounded in number, and released with their last reference")
    func inFiles() throws {
        func files() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)"))?.hasPrefix("/memfd:intertwine") == true
            }
        }
        let bytes = TestImage.png(1, bytes: ImageBody.leastInFile)
        #expect(ImageBody(Array(bytes.dropLast())).file == nil)
        var bodies = [ImageBody(bytes)]
        let (descriptor, _) = try #require(bodies[0].file)
        var byte: UInt8 = 0
        #expect(write(descriptor, &byte, 1) == -1 && ftruncate(descriptor, 0) == -1)
        // Beyond what there may be, in whatever process this is, they lie in arrays.
        while bodies.last?.file != nil, bodies.count < 2_000 { bodies.append(ImageBody(bytes)) }
        #expect(bodies.count <= 1_025)
        for body in bodies { #expect(body.bytes == bytes && body.count == bytes.count) }
        let before = try files()
        bodies = []
        #expect(try files() < before)
        let cache = MemoryCache(capacity: 100_000)
        cache.insert(image(1, bytes: 90_000))
        let held = try #require(cache.image("http://example.com/1.png", wanted))
        cache.remove("http://example.com/1.png")
        #expect(held.body.bytes == image(1, bytes: 90_000).body.bytes)
    }

    @Test("The largest images use huge pages if the kernel has any, with the same bytes")
    func inLargePages() throws {
        let bytes = TestImage.png(1, bytes: 5 << 20)
        // It may have none to spare for a moment.
        for _ in 0..<3 {
            let body = ImageBody(bytes)
            ImageBody.waitForGathering()
            let file = try #require(body.file)
            let mapping = try FileMapping(file.descriptor, count: bytes.count)
            defer { mapping.remove() }
            #expect(body.bytes == bytes)
            if try mapping.inLargePages() == 4 << 20 { return }
            guard mapping.gather() else { return }
        }
        Issue.record("the kernel has large pages, and they are not used")
    }

    @Test("A position hint finds the image at its current position, or not at all")
    func places() {
        let cache = MemoryCache(capacity: 1_000_000)
        var place = 0
        let (first, second) = (image(1), image(2))
        #expect(cache.image(first.key, at: &place) == nil)
        cache.insert(second)
        cache.insert(first)
        #expect(cache.image(first.key, at: &place) === first && place != 0)
        cache.remove(first.source)
        #expect(cache.image(first.key, at: &place) == nil)
        // Its place is another's now.
        cache.insert(image(3))
        #expect(cache.image(first.key, at: &place) == nil)
        let again = image(1)
        cache.insert(again)
        #expect(cache.image(first.key, at: &place) === again)
        place = .max
        #expect(cache.image(second.key, at: &place) === second)
    }

    @Test("A stored image round-trips, and is rejected if its bytes changed", arguments: [300, 70_000])
    func file(size: Int) throws {
        let image = image(2, bytes: size)
        let bytes = ImageFile.encode(image)
        let back = try #require(ImageFile.decode(bytes))
        #expect(back.body.bytes == image.body.bytes && back.source == image.source && back.etag == image.etag && back.kind == image.kind)
        #expect(back.freshness == image.freshness && back.validators == image.validators && back.terms == image.terms)
        let step = max(1, bytes.count / 700)
        for length in stride(from: 0, to: bytes.count, by: step) { #expect(ImageFile.decode(Array(bytes.prefix(length))) == nil) }
        for place in stride(from: 0, to: bytes.count, by: step) {
            var changed = bytes
            changed[place] ^= 1
            #expect(ImageFile.decode(changed) == nil)
        }
        #expect(ImageFile.decode(bytes + [0]) == nil)
    }

    @Test("The disk cache survives a restart, in order of use")
    func restart() async throws {
        let folder = TemporaryFolder()
        let disk = DiskCache(folder: folder.path, capacity: 1_000_000)
        for number in 0..<20 { disk.write(image(number)) }
        await flush(disk)
        #expect(disk.counts.entries == 20)
        let again = DiskCache(folder: folder.path, capacity: 1_000_000)
        await flush(again)
        #expect(again.counts.entries == 20)
        #expect(again.counts.bytes == disk.counts.bytes)
        for number in 0..<20 { #expect(await read(again, image(number).source)?.body.bytes == image(number).body.bytes) }
        again.remove(image(3).source)
        #expect(await read(again, image(3).source) == nil)
        await flush(again)
        let third = DiskCache(folder: folder.path, capacity: 1_000_000)
        await flush(third)
        #expect(third.counts.entries == 19)
    }

    @Test("The disk cache stays within its capacity under ten times its size of traffic")
    func cap() async throws {
        let folder = TemporaryFolder()
        let capacity = 400_000
        let disk = DiskCache(folder: folder.path, capacity: capacity)
        var generator = SeededRandom(seed: 2)
        var written = 0
        var number = 0
        while written < capacity * 10 {
            let size = Int.random(in: 500...30_000, using: &generator)
            disk.write(image(number, bytes: size))
            written += size
            number += 1
            await flush(disk)
            #expect(folder.allocatedBytes <= capacity)
            #expect(disk.counts.bytes <= capacity)
        }
        #expect(disk.counts.evictions > 0)
        #expect(await read(disk, image(number - 1).source) != nil)
        #expect(await read(disk, image(0).source) == nil)
    }

    @Test("A smaller capacity after a restart holds at once")
    func smaller() async throws {
        let folder = TemporaryFolder()
        let disk = DiskCache(folder: folder.path, capacity: 1_000_000)
        for number in 0..<50 { disk.write(image(number, bytes: 9_000)) }
        await flush(disk)
        let again = DiskCache(folder: folder.path, capacity: 100_000)
        await flush(again)
        #expect(folder.allocatedBytes <= 100_000)
        #expect(await read(again, image(49).source) != nil)
    }

    @Test("Images with a pending write are found until removal; pending writes are bounded by half of the budget")
    func pending() async throws {
        let folder = TemporaryFolder()
        let budget = MemoryBudget(limit: 20_000_000)
        let disk = DiskCache(folder: folder.path, capacity: 100_000_000, budget: budget)
        for number in 0..<4 {
            disk.write(image(number, bytes: 4_000_000))
            #expect(budget.inUse <= 10_000_000)
        }
        #expect(disk.contains(image(0).source, wanted))
        #expect(await read(disk, image(0).source)?.body.count == 4_000_000)
        disk.remove(image(0).source)
        #expect(!disk.contains(image(0).source, wanted))
        await flush(disk)
        #expect(!disk.contains(image(0).source, wanted))
        #expect(disk.counts.entries + disk.counts.writeFailures == 3)
        await flush(disk)
        #expect(budget.inUse == 0)
    }

    @Test("A corrupt file is a cache miss, and is deleted")
    func damaged() async throws {
        let folder = TemporaryFolder()
        let disk = DiskCache(folder: folder.path, capacity: 1_000_000)
        disk.write(image(1))
        await flush(disk)
        let file = try #require(folder.files.first)
        var bytes = try Data(contentsOf: file)
        bytes[bytes.count - 100] ^= 1
        try bytes.write(to: file)
        #expect(await read(disk, image(1).source) == nil)
        await flush(disk)
        #expect(disk.counts.damaged == 1 && folder.files.isEmpty)
    }

    @Test("Incomplete files of a previous process are deleted")
    func leftovers() async throws {
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path + "/tmp", withIntermediateDirectories: true)
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: folder.path + "/tmp/half"))
        let disk = DiskCache(folder: folder.path, capacity: 1_000_000)
        await flush(disk)
        #expect(folder.files.isEmpty)
    }

    @Test("A disk that rejects writes affects only the storage")
    func unwritable() async throws {
        let folder = TemporaryFolder()
        let disk = DiskCache(folder: folder.path, capacity: 1_000_000)
        await flush(disk)
        try FileManager.default.removeItem(atPath: folder.path + "/tmp")
        try Data().write(to: URL(fileURLWithPath: folder.path + "/tmp"))
        disk.write(image(1))
        await flush(disk)
        #expect(disk.counts.writeFailures == 1)
        #expect(disk.counts.bytes == 0)
        #expect(await read(disk, image(1).source) == nil)
    }

    @Test("An emptied folder stores images again", arguments: [false, true])
    func emptied(isFolderGone: Bool) async throws {
        let folder = TemporaryFolder()
        let path = folder.path + "/images"
        let disk = DiskCache(folder: path, capacity: 1_000_000)
        for number in 0..<3 { disk.write(image(number)) }
        await flush(disk)
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            try FileManager.default.removeItem(atPath: "\(path)/\(name)")
        }
        if isFolderGone { try FileManager.default.removeItem(atPath: path) }
        #expect(await read(disk, image(1).source) == nil)
        await flush(disk)
        #expect(disk.counts.entries == 2 && disk.counts.damaged == 0 && !disk.contains(image(1).source, wanted))
        disk.write(image(1))
        await flush(disk)
        #expect(disk.counts.writeFailures == 0)
        #expect(await read(disk, image(1).source)?.body.bytes == image(1).body.bytes)
    }

    @Test("A full disk affects only the storage, which resumes with free space", .mounts)
    func full() async throws {
        let folder = TemporaryFolder()
        let mount = try Mount.small(folder.path, kibibytes: 256)
        defer { mount.remove() }
        let disk = DiskCache(folder: folder.path, capacity: 10_000_000)
        for number in 0..<20 {
            disk.write(image(number, bytes: 20_000))
            await flush(disk)
        }
        let counts = disk.counts
        #expect(counts.writeFailures > 0 && counts.entries > 0 && counts.entries + counts.writeFailures == 20)
        for number in 0..<20 {
            let isThere = disk.contains(image(number).source, wanted)
            #expect(await read(disk, image(number).source)?.body.bytes == (isThere ? image(number, bytes: 20_000).body.bytes : nil))
        }
        for number in 0..<20 { disk.remove(image(number).source) }
        disk.write(image(20, bytes: 20_000))
        await flush(disk)
        #expect(await read(disk, image(20).source) != nil)
        #expect(folder.files.count == 1)
    }

    @Test("A folder without write access is logged at the start and sometimes later")
    func noFolder() async throws {
        let folder = TemporaryFolder()
        try Data().write(to: URL(fileURLWithPath: folder.path + "/file"))
        for path in ["/file", "/no/such"] {
            let log = LogCapture()
            let disk = DiskCache(folder: folder.path + path, capacity: 1_000_000, logger: log.logger)
            #expect(log.lines.count == 1 && log.lines.first?.contains(path) == true, "\(log.lines)")
            #expect(!disk.accepts(1_000))
            disk.write(image(1))
            await flush(disk)
            #expect(disk.counts.writeFailures == 1 && log.lines.count == 1)
            #expect(await read(disk, image(1).source) == nil)
        }
        let log = LogCapture()
        let disk = DiskCache(folder: folder.path + "/images", capacity: 1_000_000, logger: log.logger)
        disk.write(image(1))
        await flush(disk)
        #expect(log.lines.isEmpty && disk.accepts(1_000))
        try FileManager.default.removeItem(atPath: folder.path + "/images")
        try Data().write(to: URL(fileURLWithPath: folder.path + "/images"))
        disk.write(image(2))
        await flush(disk)
        #expect(log.lines.count == 1 && !disk.accepts(1_000))
    }

    @Test("A purge reports images that cannot be deleted; they are not served")
    func stuck() async throws {
        let folder = TemporaryFolder()
        let disk = DiskCache(folder: folder.path, capacity: 1_000_000)
        for number in 0..<2 { disk.write(image(number)) }
        await flush(disk)
        // As root nothing else is refused: a folder in the place of the file.
        let files = folder.files
        for file in files {
            try FileManager.default.removeItem(at: file)
            try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
        }
        let forget = { @Sendable in
            await withCheckedContinuation { continuation in disk.remove(image(0).source) { continuation.resume(returning: $0) } }
        }
        let one = await forget()
        let all = await withCheckedContinuation { continuation in
            disk.remove(where: { _ in true }) { continuation.resume(returning: $0) }
        }
        #expect(!one && !all && !disk.contains(image(0).source, wanted) && !disk.contains(image(1).source, wanted))
        // Not before nothing is in the way any more, however often it is asked for.
        #expect(await !forget())
        for file in files { try FileManager.default.removeItem(at: file) }
        #expect(await forget())
    }

    @Test("A purge that reads many files does not stall the writes of other images")
    func slowSweep() async throws {
        let folder = TemporaryFolder()
        let disk = DiskCache(folder: folder.path, capacity: 1_000_000)
        disk.write(image(0))
        await flush(disk)
        let (started, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let source = image(0).source
        async let isSwept = withCheckedContinuation { continuation in
            disk.remove(where: { candidate in
                guard candidate == source else { return false }
                started.signal()
                goesOn.wait()
                return true
            }) { continuation.resume(returning: $0) }
        }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                started.wait()
                continuation.resume()
            }
        }
        disk.write(image(1))
        await flush(disk)
        #expect(folder.files.count == 2)
        goesOn.signal()
        goesOn.signal()
        #expect(await isSwept)
        #expect(folder.files.count == 1)
    }

    @Test("A purge removes many images from memory, disk and pending writes")
    func sweep() async throws {
        let folder = TemporaryFolder()
        let disk = DiskCache(folder: folder.path, capacity: 1_000_000)
        let memory = MemoryCache(capacity: 1_000_000)
        for number in 0..<20 { memory.insert(image(number)) }
        for number in 0..<10 { disk.write(image(number)) }
        await flush(disk)
        for number in 10..<20 { disk.write(image(number)) }
        let isGone: @Sendable (String) -> Bool = { $0.hasPrefix("http://example.com/1") }
        memory.remove(where: isGone)
        let isSwept = await withCheckedContinuation { continuation in disk.remove(where: isGone) { continuation.resume(returning: $0) } }
        #expect(isSwept)
        for number in 0..<20 {
            let isLeft = number == 0 || (2...9).contains(number)
            #expect((await read(disk, image(number).source) != nil) == isLeft)
            #expect((memory.image(image(number).source, wanted) != nil) == isLeft)
        }
        #expect(folder.files.count == 9 && memory.count == 9)
        let isEmptied = await withCheckedContinuation { continuation in
            disk.remove(where: { _ in true }) { continuation.resume(returning: $0) }
        }
        #expect(isEmptied)
        #expect(folder.files.isEmpty && disk.counts.bytes == 0)
    }
}
