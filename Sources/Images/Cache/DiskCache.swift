internal import Crypto
internal import Dispatch
internal import Glibc
internal import Synchronization

/// Whole pictures on disk, with a hard cap, safe against being killed at any moment.
///
/// One file for each picture, named by the hash of its source, written aside and renamed. No sync: what a power cut tears
/// does not pass the checksum. All calls return at once; files are touched on queues of the cache's own.
final class DiskCache: Sendable {
    struct Counts: Sendable {
        var bytes = 0
        var entries = 0
        var evictions = 0
        /// Pictures not stored because the disk was full or failed.
        var writeFailures = 0
        /// Files that were found damaged, and removed.
        var damaged = 0
    }

    private struct State: Sendable {
        var index = DiskIndex()
        var counts = Counts()
        /// Pictures on their way to the disk, the last of each name; they are found like those that are there.
        var pending: [String: CachedImage] = [:]
        /// Bytes of all that are on their way; more than a few and the disk is too slow for what comes in.
        var pendingBytes = 0
    }

    private static let temporary = "tmp"

    private let folder: String
    private let capacity: Int
    private let writer = DispatchQueue(label: "intertwine.images.disk.write", qos: .utility)
    private let reader = DispatchQueue(label: "intertwine.images.disk.read")
    private let state = Mutex(State())
    private let budget: ByteBudget
    private let mostPending: Int

    /// Makes the folder where it is missing, and reads in the background what it holds.
    /// - Parameter budget: what is on its way counts there, and takes half of it at most.
    init(folder: String, capacity: Int, budget: ByteBudget = ByteBudget(limit: 128 << 20)) throws(DiskCacheError) {
        self.budget = budget
        mostPending = budget.limit / 2
        self.folder = folder
        self.capacity = capacity
        for part in [folder, "\(folder)/\(Self.temporary)"] where mkdir(part, 0o700) != 0 && errno != EEXIST {
            throw DiskCacheError(path: part, errno: errno)
        }
        guard access(folder, W_OK | X_OK) == 0 else { throw DiskCacheError(path: folder, errno: errno) }
        writer.async { self.rebuild() }
    }

    var counts: Counts {
        state.withLock { state in
            var counts = state.counts
            counts.bytes = state.index.bytes
            counts.entries = state.index.entries.count
            return counts
        }
    }

    /// Whether a picture of so many bytes is kept, with what is written beside it.
    func takes(_ bytes: Int) -> Bool {
        DiskIndex.room(for: bytes) + DiskIndex.room(for: ImageFile.besideBody) <= Self.largest(capacity)
            && state.withLock { $0.pendingBytes == 0 || $0.pendingBytes + bytes <= mostPending }
    }

    /// One picture must not push out most of the others.
    private static func largest(_ capacity: Int) -> Int { capacity / 2 }

    func holds(_ source: String) -> Bool {
        let name = Self.name(source)
        return state.withLock { $0.pending[name] != nil || $0.index.entries[name] != nil }
    }

    /// - Parameter done: called at once or on a queue of the cache's own; nil where there is no such picture, or no whole one.
    func read(_ source: String, done: @escaping @Sendable (CachedImage?) -> Void) {
        let name = Self.name(source)
        let (pending, isThere) = state.withLock { state in
            state.index.touch(name)
            return (state.pending[name], state.index.entries[name] != nil)
        }
        if let pending { return done(pending) }
        guard isThere else { return done(nil) }
        reader.async {
            guard let bytes = FileBytes.read(self.path(name)) else {
                self.writer.async { self.forgetMissing(name) }
                return done(nil)
            }
            if let image = ImageFile.decode(bytes), image.source == source { return done(image) }
            self.writer.async { self.drop(name, isDamaged: true) }
            done(nil)
        }
    }

    func write(_ image: CachedImage) {
        let name = Self.name(image.source)
        let bytes = image.body.count
        let mayWrite = state.withLock { state in
            guard state.pendingBytes == 0 || state.pendingBytes + bytes <= mostPending, budget.take(bytes) else {
                state.counts.writeFailures += 1
                return false
            }
            state.pendingBytes += bytes
            state.pending[name] = image
            return true
        }
        guard mayWrite else { return }
        writer.async {
            // Removed or replaced meanwhile: what was asked for last counts.
            if self.state.withLock({ $0.pending[name] === image }) { self.store(image) }
            self.state.withLock { state in
                state.pendingBytes -= bytes
                if state.pending[name] === image { state.pending[name] = nil }
            }
            self.budget.give(back: bytes)
        }
    }

    func remove(_ source: String) {
        let name = Self.name(source)
        // From here on nobody finds it; the file itself follows, in order with what is being written.
        state.withLock { state in
            state.index.remove(name)
            state.pending[name] = nil
        }
        writer.async { self.drop(name, isDamaged: false) }
    }

    /// Calls back when everything asked for so far is on disk.
    func flush(_ done: @escaping @Sendable () -> Void) {
        writer.async(execute: done)
    }

    private func store(_ image: CachedImage) {
        let bytes = ImageFile.encode(image)
        let room = DiskIndex.room(for: bytes.count)
        let name = Self.name(image.source)
        guard room <= Self.largest(capacity) else { return }
        makeRoom(for: room)
        state.withLock { $0.index.reserve(room) }
        let aside = "\(folder)/\(Self.temporary)/\(name)"
        // All three: somebody may have emptied the folder, or taken it away.
        for part in [folder, "\(folder)/\(Self.temporary)", "\(folder)/\(name.prefix(2))"] { _ = mkdir(part, 0o700) }
        let isWritten = FileBytes.write(bytes, to: aside) && rename(aside, path(name)) == 0
        if !isWritten { unlink(aside) }
        state.withLock { state in
            state.index.release(room)
            if isWritten, state.pending[name] === image {
                state.index.insert(name, bytes: room)
            } else if !isWritten {
                state.counts.writeFailures += 1
            }
        }
    }

    /// Begins at 95 % of the cap and goes down to 85 %, so that not each picture has to push another one out.
    private func makeRoom(for room: Int) {
        let uses = state.withLock { $0.index.bytes + room > capacity / 100 * 95 ? $0.index.uses : nil }
        guard var uses else { return }
        // Not under the lock: there may be half a million of them, and pictures are looked up on an event loop.
        uses.sort { $0.used < $1.used }
        let gone = state.withLock { [uses] state in
            let gone = state.index.evict(uses, downTo: capacity / 100 * 85 - room)
            state.counts.evictions += gone.count
            return gone
        }
        for name in gone {
            unlink(path(name))
        }
    }

    /// On the writer's queue, where no file comes or goes meanwhile.
    private func forgetMissing(_ name: String) {
        guard access(path(name), F_OK) != 0, errno == ENOENT else { return }
        state.withLock { $0.index.remove(name) }
    }

    private func drop(_ name: String, isDamaged: Bool) {
        state.withLock { state in
            state.index.remove(name)
            if isDamaged { state.counts.damaged += 1 }
        }
        unlink(path(name))
    }

    /// What a former process left: half-written files go, the others come back in the order in which they were written.
    private func rebuild() {
        for name in FileBytes.names(in: "\(folder)/\(Self.temporary)") {
            unlink("\(folder)/\(Self.temporary)/\(name)")
        }
        for part in FileBytes.names(in: folder) where part.utf8.count == 2 {
            for name in FileBytes.names(in: "\(folder)/\(part)") {
                guard let (bytes, modified) = FileBytes.facts(of: path(name)), name.hasPrefix(part) else { continue }
                state.withLock { state in
                    if state.index.entries[name] == nil { state.index.insert(name, bytes: DiskIndex.room(for: bytes), used: modified) }
                }
            }
        }
        makeRoom(for: 0)
    }

    private func path(_ name: String) -> String {
        "\(folder)/\(name.prefix(2))/\(name)"
    }

    private static func name(_ source: String) -> String {
        let digits = Array("0123456789abcdef".utf8)
        let hash = SHA256.hash(data: Array(source.utf8))
        return String(decoding: hash.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
