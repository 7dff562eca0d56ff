internal import Dispatch
internal import Glibc
internal import IntertwinePrimitives
internal import Synchronization

/// Records are appended to a file beside the images, so that the next process has them.
package final class ImageMetadataTable: Sendable {
    private struct Key: Hashable, Sendable {
        let halves: (UInt64, UInt64)

        init(_ source: String) {
            halves = SHA256.hash(data: Array(source.utf8)).withUnsafeBytes {
                ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            }
        }

        init(_ first: UInt64, _ second: UInt64) { halves = (first, second) }

        static func == (left: Key, right: Key) -> Bool { left.halves == right.halves }

        func hash(into hasher: inout Hasher) { hasher.combine(halves.0) }
    }

    private struct Known: Sendable {
        let facts: ImageMetadata
        let content: UInt32
    }

    private struct State: Sendable {
        var known: BoundedCache<Key, Known>
        var unwritten: [UInt8] = []
        var isWriting = false
    }

    private static let longestHash = 40
    private static let recordLength = 72
    private static let contentOffset = recordLength - 6

    private let maxRecords: Int
    private let path: String?
    private let writer = DispatchQueue(label: "intertwine.images.facts", qos: .utility)
    private let state: Mutex<State>
    private let changes = Atomic<UInt64>(0)
    private let corrections = Atomic<UInt64>(0)

    package init(folder: String?, capacity: Int) {
        let capacity = max(2, capacity)
        maxRecords = capacity * 2
        state = Mutex(State(known: BoundedCache(limit: capacity)))
        path = folder.map { "\($0)/facts" }
        if path != nil { writer.async { self.readFiles() } }
    }

    package var version: UInt64 { changes.load(ordering: .acquiring) }

    package var revision: UInt64 { corrections.load(ordering: .acquiring) }

    package func facts(of source: String) -> ImageMetadata? {
        // If nothing was ever added, for example without a transformer, no digest is computed.
        guard version > 0 else { return nil }
        let key = Key(source)
        return state.withLock { state in
            let isOld = state.known.isOld(key)
            guard let known = state.known[key] else { return nil }
            // The order of the file is the order of use, so that the next process evicts the same entries.
            if isOld { write(known, key, &state) }
            return known.facts
        }
    }

    /// The first result of a content stays. Why: resizing to another size finds slightly different metadata.
    func learn(_ source: String, _ facts: ImageMetadata, of etag: String) {
        guard facts.thumbHash.count <= Self.longestHash, facts.color.utf8.count == 7 else { return }
        let (key, content) = (Key(source), Self.content(etag))
        let (isNews, isCorrection) = state.withLock { state in
            let old = state.known.peek(key)
            guard old?.content != content else { return (false, false) }
            let known = Known(facts: facts, content: content)
            state.known[key] = known
            write(known, key, &state)
            return (old?.facts != facts, old.map { $0.facts != facts } ?? false)
        }
        if isNews { changes.add(1, ordering: .releasing) }
        if isCorrection { corrections.add(1, ordering: .releasing) }
    }

    private static func content(_ etag: String) -> UInt32 { max(1, FNV1a.hash32(etag.utf8)) }

    /// A selection of more than one image empties the table, because keys are digests.
    func forget(_ selection: ImageSelection) {
        state.withLock { state in
            if case .source(let source) = selection { state.known[Key(source)] = nil } else { state.known.removeAll() }
        }
        corrections.add(1, ordering: .releasing)
        if let path { writer.async { self.compact(path) } }
    }

    func flush(_ done: @escaping @Sendable () -> Void) { writer.async(execute: done) }

    private func write(_ known: Known, _ key: Key, _ state: inout State) {
        guard path != nil else { return }
        state.unwritten += Self.record(key, known)
        guard !state.isWriting else { return }
        state.isWriting = true
        writer.async { self.write() }
    }

    // MARK: Files

    private func write() {
        while true {
            let bytes = state.withLock { state -> [UInt8]? in
                guard !state.unwritten.isEmpty else {
                    state.isWriting = false
                    return nil
                }
                defer { state.unwritten = [] }
                return state.unwritten
            }
            guard let bytes, let path else { return }
            Self.append(bytes, to: path)
            if let size = FileBytes.facts(of: path)?.bytes, size > maxRecords * Self.recordLength { compact(path) }
        }
    }

    private func compact(_ path: String) {
        let bytes = state.withLock { state in
            state.unwritten = []
            return state.known.entries.flatMap { Self.record($0.key, $0.value) }
        }
        let aside = path + ".new"
        if FileBytes.write(bytes, to: aside) != nil || rename(aside, path) != 0 { unlink(aside) }
    }

    private static func append(_ bytes: [UInt8], to path: String) {
        let descriptor = OwnedFile.open(path, O_WRONLY | O_APPEND | O_NOFOLLOW)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        // A partially written record is ignored on reading.
        _ = bytes.withUnsafeBytes { FileIO.write($0, to: descriptor) }
    }

    private func readFiles() {
        guard let path, let bytes = FileBytes.read(path, upTo: (maxRecords + 1_000) * Self.recordLength) else { return }
        var offset = 0
        state.withLock { state in
            while offset + Self.recordLength <= bytes.count {
                if let (key, known) = Self.read(bytes[offset..<(offset + Self.recordLength)]) {
                    // The last record of an image counts.
                    state.known[key] = known
                }
                offset += Self.recordLength
            }
        }
        changes.add(1, ordering: .releasing)
    }

    private static func record(_ key: Key, _ known: Known) -> [UInt8] {
        let facts = known.facts
        var bytes: [UInt8] = []
        bytes.reserveCapacity(recordLength)
        for number in [key.halves.0, key.halves.1] { withUnsafeBytes(of: number.littleEndian) { bytes += $0 } }
        // Both sides are within the limits of accepted images.
        for side in [facts.width, facts.height] { withUnsafeBytes(of: UInt16(clamping: side).littleEndian) { bytes += $0 } }
        withUnsafeBytes(of: UInt16(clamping: facts.frames).littleEndian) { bytes += $0 }
        let color = Hexadecimal.bytes(facts.color.dropFirst()) ?? []
        bytes += color.count == 3 ? color : [0, 0, 0]
        bytes.append(UInt8(facts.thumbHash.count) | (facts.hasAlpha ? 0x80 : 0))
        bytes += facts.thumbHash
        bytes += [UInt8](repeating: 0, count: contentOffset - bytes.count)
        withUnsafeBytes(of: known.content.littleEndian) { bytes += $0 }
        withUnsafeBytes(of: checksum(bytes[...]).littleEndian) { bytes += $0 }
        return bytes
    }

    private static func read(_ bytes: ArraySlice<UInt8>) -> (Key, Known)? {
        let bytes = Array(bytes)
        func number<Number: FixedWidthInteger>(_ offset: Int, _: Number.Type) -> Number {
            bytes.withUnsafeBytes { Number(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: Number.self)) }
        }
        guard number(recordLength - 2, UInt16.self) == checksum(bytes.dropLast(2)) else { return nil }
        let count = Int(bytes[25] & 0x7f)
        guard count <= longestHash else { return nil }
        let facts = ImageMetadata(
            width: Int(number(16, UInt16.self)), height: Int(number(18, UInt16.self)), frames: Int(number(20, UInt16.self)),
            hasAlpha: bytes[25] & 0x80 != 0, color: "#" + Hexadecimal.text(bytes[22..<25]), thumbHash: Array(bytes[26..<(26 + count)]))
        let known = Known(facts: facts, content: number(contentOffset, UInt32.self))
        return (Key(number(0, UInt64.self), number(8, UInt64.self)), known)
    }

    private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt16 {
        var (first, second) = (UInt32(1), UInt32(0))
        for byte in bytes {
            first = (first + UInt32(byte)) % 255
            second = (second + first) % 255
        }
        return UInt16(second << 8 | first)
    }
}
