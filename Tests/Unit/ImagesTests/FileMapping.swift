import Foundation
import Testing

/// A file, as this process sees it through a mapping that begins where a large page could.
struct FileMapping {
    private static let page = 2 << 20
    private let room: UnsafeMutableRawPointer
    private let start: UnsafeMutableRawPointer
    private let whole: Int

    /// - Parameter count: of the file's bytes, of which those are mapped that fill large pages.
    init(_ file: Int32, count: Int) throws {
        whole = count / Self.page * Self.page
        room = try #require(mmap(nil, whole + Self.page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
        start = room.alignedUp(toMultipleOf: Self.page)
        try #require(mmap(start, whole, PROT_READ, MAP_SHARED | MAP_FIXED, file, 0) == start)
    }

    func remove() { munmap(room, whole + Self.page) }

    /// Bytes of it in large pages, by what the kernel says of this mapping.
    func inLargePages() throws -> Int {
        for place in stride(from: 0, to: whole, by: 4_096) { _ = start.load(fromByteOffset: place, as: UInt8.self) }
        // Foundation takes a read that brings less than it could for the end.
        let file = try #require(fopen("/proc/self/smaps", "r"))
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer {
            free(line)
            fclose(file)
        }
        let address = String(UInt(bitPattern: start), radix: 16) + "-"
        var (isOwn, found) = (false, 0)
        while getline(&line, &capacity, file) > 0, let text = line.map({ String(cString: $0) }) {
            if text.hasPrefix(address) { isOwn = true }
            guard isOwn else { continue }
            if text.hasPrefix("VmFlags:") { break }
            guard text.hasPrefix("ShmemPmdMapped:") || text.hasPrefix("FilePmdMapped:") else { continue }
            found += text.split(separator: " ").compactMap { Int($0) }.reduce(0, +) * 1_024
        }
        return found
    }

    /// Asks for them once more (MADV_COLLAPSE). False where the kernel cannot, or has none.
    func gather() -> Bool { madvise(start, whole, 25) == 0 }
}
