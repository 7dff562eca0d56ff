internal import Crypto
internal import Dispatch
internal import Glibc
internal import IntertwinePrimitives
internal import Logging
internal import Synchronization

/// Whole pictures on disk, with a hard cap, safe against being killed at any moment.
///
/// One file for each picture, named by the hash of its source, written aside and renamed. No sync: what a power cut tears
/// does not pass the checksum. All calls return at once; files are touched on queues of the cache's own. A folder that cannot be written to
/// is no reason to stop: it is said, and tried again now and then.
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
        /// Until then nothing is written: the folder did not let us.
        var disabledUntil: ContinuousClock.Instant?
        var lastWarning: ContinuousClock.Instant?
        /// What is being forgotten: not found from the moment that it was asked for, however long it takes to go through the files.
        var sweeps: [UInt64: @Sendable (String) -> Bool] = [:]
        var lastSweep: UInt64 = 0
        /// Files that the folder did not let go: nobody finds them in this process, but the next one would. Each purge tries them again.
        var left: Set<String> = []
    }

    private static let temporary = "tmp"
    private static let errorCooldown = Duration.seconds(10)
    private static let warningInterval = Duration.seconds(60)

    private let folder: String
    private let capacity: Int
    private let writer = DispatchQueue(label: "intertwine.images.disk.write", qos: .utility)
    private let reader = DispatchQueue(label: "intertwine.images.disk.read")
    private let state = Mutex(State())
    private let budget: ByteBudget
    private let mostPending: Int
    private let logger: Logger

    /// Makes the folder where it is missing, and reads in the background what it holds.
    /// - Parameter budget: what is on its way counts there, and takes half of it at most.
    init(
        folder: String, capacity: Int, budget: ByteBudget = ByteBudget(limit: 128 << 20),
        logger: Logger = Logger(label: "intertwine.images")
    ) {
        self.budget = budget
        self.logger = logger
        mostPending = budget.limit / 2
        self.folder = folder
        self.capacity = capacity
        if let error = Self.trouble(with: folder) { failed(error) }
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
    func accepts(_ bytes: Int) -> Bool {
        DiskIndex.room(for: bytes) + DiskIndex.room(for: ImageFile.besideBody) <= Self.largest(capacity)
            && state.withLock { !Self.isDisabled($0) && ($0.pendingBytes == 0 || $0.pendingBytes + bytes <= mostPending) }
    }

    private static func isDisabled(_ state: State) -> Bool { state.disabledUntil.map { .now < $0 } ?? false }

    /// The error number of the first thing that stands in the way of writing to a folder.
    private static func trouble(with folder: String) -> Int32? {
        for part in [folder, "\(folder)/\(temporary)"] {
            if mkdir(part, 0o700) != 0, errno != EEXIST { return errno }
            if access(part, W_OK | X_OK) != 0 { return errno }
        }
        return nil
    }

    /// Says so, not each time; and where it is the folder itself, leaves it alone for a while.
    private func failed(_ error: Int32) {
        let isFolder = [EROFS, EACCES, EPERM, ENOTDIR, ENOENT].contains(error)
        let isNews = state.withLock { state in
            if isFolder { state.disabledUntil = .now + Self.errorCooldown }
            if let last = state.lastWarning, .now < last + Self.warningInterval { return false }
            state.lastWarning = .now
            return true
        }
        guard isNews else { return }
        logger.warning(
            "pictures cannot be kept on disk; they are served without",
            metadata: ["folder": "\(folder)", "error": "\(String(cString: strerror(error)))"])
    }

    /// One picture must not push out most of the others.
    private static func largest(_ capacity: Int) -> Int { capacity / 2 }

    /// - Parameter wanted: what its origin would be asked for.
    func contains(_ source: String, _ wanted: AcceptedFormats.Set) -> Bool {
        state.withLock { Self.storedPath(source, wanted, $0) != nil }
    }

    func contains(_ wish: ResizeKey) -> Bool {
        let name = Self.name(wish.source, wish.key)
        return state.withLock { $0.pending[name] != nil || $0.index.entries[name] != nil }
    }

    private static func storedPath(_ source: String, _ wanted: AcceptedFormats.Set, _ state: State) -> String? {
        [name(source), name(CachedImage.key(source, wanted))].first { state.pending[$0] != nil || state.index.entries[$0] != nil }
    }

    /// - Parameter done: called at once or on a queue of the cache's own; nil where there is no such picture, or no whole one.
    func read(_ source: String, _ wanted: AcceptedFormats.Set, done: @escaping @Sendable (CachedImage?) -> Void) {
        read(source, named: { Self.storedPath(source, wanted, $0) }, done: done)
    }

    /// The same for a sized picture.
    func read(_ wish: ResizeKey, done: @escaping @Sendable (CachedImage?) -> Void) {
        let name = Self.name(wish.source, wish.key)
        read(wish.source, named: { $0.pending[name] != nil || $0.index.entries[name] != nil ? name : nil }) { image in
            // Two keys may share a name.
            done(image?.key == wish.key ? image : nil)
        }
    }

    private func read(_ source: String, named: (State) -> String?, done: @escaping @Sendable (CachedImage?) -> Void) {
        let (held, pending) = state.withLock { state in
            let name = named(state)
            if let name { state.index.touch(name) }
            return (name, name.flatMap { state.pending[$0] })
        }
        if let pending { return done(pending) }
        guard let name = held else { return done(nil) }
        reader.async {
            guard let bytes = FileBytes.read(self.path(name)) else {
                self.writer.async { self.forgetMissing(name) }
                return done(nil)
            }
            if let image = ImageFile.decode(bytes), image.source == source {
                let isGoing = self.state.withLock { $0.sweeps.values.contains { $0(source) } }
                return done(isGoing ? nil : image)
            }
            self.writer.async { self.drop(name, isDamaged: true) }
            done(nil)
        }
    }

    func write(_ image: CachedImage) {
        // From now on its origin negotiates: what was the same for all is not found any more.
        if image.replacesCommon { remove(keys: [image.source]) }
        let name = Self.name(image)
        let bytes = image.body.count
        let mayWrite = state.withLock { state in
            guard !Self.isDisabled(state), state.pendingBytes == 0 || state.pendingBytes + bytes <= mostPending, budget.reserve(bytes)
            else {
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
            self.budget.release(bytes: bytes)
        }
    }

    /// Whatever is kept of a source, and was made of it.
    ///
    /// - Parameter done: called on a queue of the cache's own when it is gone, with whether all that was to go so far is.
    func remove(_ source: String, done: (@Sendable (Bool) -> Void)? = nil) {
        remove(keys: CachedImage.keys(source), madeOf: source, done: done)
    }

    private func remove(keys: [String], madeOf source: String? = nil, done: (@Sendable (Bool) -> Void)? = nil) {
        // From here on nobody finds them; the files follow, in order with what is being written.
        let family = source.map { Self.name($0) }
        let gone = state.withLock { state in
            let made = family.map { family in
                state.index.made(of: family) + state.pending.keys.filter { $0.hasPrefix(family) && $0 != family }
            }
            return (keys.map { Self.name($0) } + (made ?? [])).filter { name in
                guard state.pending.removeValue(forKey: name) != nil || state.index.entries[name] != nil else { return false }
                state.index.remove(name)
                return true
            }
        }
        guard !gone.isEmpty || done != nil else { return }
        writer.async {
            for name in gone { self.drop(name, isDamaged: false) }
            done?(self.isNothingLeft())
        }
    }

    /// Goes through all files. What is asked for is not found from here on.
    /// - Parameter done: called on a queue of the cache's own when they are gone, with whether all that was to go so far is.
    func remove(where isGone: @escaping @Sendable (String) -> Bool, done: @escaping @Sendable (Bool) -> Void) {
        let (sweep, pending) = state.withLock { state in
            let pending = state.pending.filter { isGone($0.value.source) }.map(\.key)
            for name in pending { state.pending[name] = nil }
            state.lastSweep += 1
            state.sweeps[state.lastSweep] = isGone
            return (state.lastSweep, pending)
        }
        writer.async {
            // One of them may have been in the middle of being written.
            for name in pending { self.drop(name, isDamaged: false) }
            for name in self.state.withLock({ Array($0.index.entries.keys) }) {
                let source = FileBytes.read(self.path(name), upTo: ImageFile.besideBody).flatMap(ImageFile.source)
                // One that cannot be read is no use to anybody.
                if source.map(isGone) ?? true { self.drop(name, isDamaged: false) }
            }
            self.state.withLock { $0.sweeps[sweep] = nil }
            done(self.isNothingLeft())
        }
    }

    /// Calls back when everything asked for so far is on disk.
    func flush(_ done: @escaping @Sendable () -> Void) {
        writer.async(execute: done)
    }

    private func store(_ image: CachedImage) {
        let bytes = ImageFile.encode(image)
        let room = DiskIndex.room(for: bytes.count)
        let name = Self.name(image)
        guard room <= Self.largest(capacity) else { return }
        makeRoom(for: room)
        state.withLock { $0.index.reserve(room) }
        let aside = "\(folder)/\(Self.temporary)/\(name)"
        // All three: somebody may have emptied the folder, or taken it away.
        for part in [folder, "\(folder)/\(Self.temporary)", "\(folder)/\(name.prefix(2))"] { _ = mkdir(part, 0o700) }
        let error = FileBytes.write(bytes, to: aside) ?? (rename(aside, path(name)) == 0 ? nil : errno)
        let isWritten = error == nil
        if let error {
            unlink(aside)
            failed(error)
        }
        state.withLock { state in
            state.index.release(room)
            if isWritten { state.left.remove(name) }
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

    /// From here on it is not found in this process. A folder may have become one that nothing is removed from.
    private func drop(_ name: String, isDamaged: Bool) {
        state.withLock { state in
            state.index.remove(name)
            if isDamaged { state.counts.damaged += 1 }
        }
        let error = unlink(path(name)) == 0 || errno == ENOENT ? nil : errno
        state.withLock { if error == nil { $0.left.remove(name) } else { $0.left.insert(name) } }
        if let error { failed(error) }
    }

    /// Whether the next process would find nothing that was removed in this one.
    private func isNothingLeft() -> Bool {
        for name in state.withLock({ $0.left }) { drop(name, isDamaged: false) }
        return state.withLock { $0.left.isEmpty }
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

    private static func name(_ key: String) -> String {
        Hexadecimal.text(SHA256.hash(data: Array(key.utf8)))
    }

    /// Of what was made of a source: the source's, and enough of another one behind it to tell them apart.
    private static func name(_ source: String, _ key: String) -> String { name(source) + "-" + name(key).prefix(16) }

    private static func name(_ image: CachedImage) -> String {
        image.sizing == nil ? name(image.key) : name(image.source, image.key)
    }
}
