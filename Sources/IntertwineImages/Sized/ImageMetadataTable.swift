internal import Dispatch
internal import Glibc
internal import IntertwinePrimitives
internal import Synchronization

/// It is saved in a file beside the images, so that the next process has it. After a crash, images are inspected again.
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
        var willSave = false
    }

    private static let longestHash = 40

    private let path: String?
    private let writer = DispatchQueue(label: "intertwine.images.facts", qos: .utility)
    private let state: Mutex<State>
    private let changes = Atomic<UInt64>(0)
    private let corrections = Atomic<UInt64>(0)

    package init(folder: String?, capacity: Int) {
        state = Mutex(State(known: BoundedCache(limit: max(2, capacity))))
        path = folder.map { "\($0)/facts" }
        if path != nil { writer.async { self.read() } }
    }

    package var version: UInt64 { changes.load(ordering: .acquiring) }

    package var revision: UInt64 { corrections.load(ordering: .acquiring) }

    package func facts(of source: String) -> ImageMetadata? {
        // If nothing was ever added, for example without a transformer, no digest is computed.
        guard version > 0 else { return nil }
        let key = Key(source)
        return state.withLock { $0.known[key]?.facts }
    }

    /// The first result of a content stays. Why: resizing to another size finds slightly different metadata.
    func learn(_ source: String, _ facts: ImageMetadata, of etag: String) {
        guard facts.thumbHash.count <= Self.longestHash, facts.color.utf8.count == 7 else { return }
        let (key, content) = (Key(source), Self.content(etag))
        let (isNews, isCorrection) = state.withLock { state in
            let old = state.known.peek(key)
            guard old?.content != content else { return (false, false) }
            state.known[key] = Known(facts: facts, content: content)
            planSave(&state)
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
        writer.async { self.save() }
    }

    package func close() { writer.sync { save() } }

    // MARK: The file

    /// Why later the more entries there are: each time, all are written.
    private func planSave(_ state: inout State) {
        guard !state.willSave, path != nil else { return }
        state.willSave = true
        writer.asyncAfter(deadline: .now() + .milliseconds(1_000 + state.known.count)) { [weak self] in
            if let self, self.state.withLock({ $0.willSave }) { self.save() }
        }
    }

    private func save() {
        guard let path else { return }
        let entries = state.withLock { state in
            state.willSave = false
            return state.known.entries
        }
        var file = ByteWriter(capacity: entries.count * 64 + 4)
        for (key, known) in entries {
            file.write(key.halves.0)
            file.write(key.halves.1)
            file.write(known.content)
            for number in [known.facts.width, known.facts.height, known.facts.frames] { file.write(varying: number) }
            file.write(UInt8(known.facts.hasAlpha ? 1 : 0))
            file.write(counted: Array(known.facts.color.utf8))
            file.write(counted: known.facts.thumbHash)
        }
        file.write(FNV1a.hash32(file.bytes))
        let aside = path + ".new"
        if FileBytes.write(file.bytes, to: aside) != nil || rename(aside, path) != 0 { unlink(aside) }
    }

    private func read() {
        guard let path, let bytes = FileBytes.read(path), bytes.count >= 4 else { return }
        var sum = ByteReader(bytes.suffix(4))
        guard sum.readUInt32() == FNV1a.hash32(bytes.dropLast(4)) else { return }
        var file = ByteReader(bytes.dropLast(4))
        state.withLock { state in
            while let first = file.readUInt64(), let second = file.readUInt64(), let content = file.readUInt32(),
                let width = file.readVarying(), let height = file.readVarying(), let frames = file.readVarying(),
                let alpha = file.readByte(), let color = file.readCounted(), let hash = file.readCounted()
            {
                let facts = ImageMetadata(
                    width: width, height: height, frames: frames, hasAlpha: alpha == 1, color: String(decoding: color, as: UTF8.self),
                    thumbHash: Array(hash))
                state.known[Key(first, second)] = Known(facts: facts, content: content)
            }
        }
        changes.add(1, ordering: .releasing)
    }
}
