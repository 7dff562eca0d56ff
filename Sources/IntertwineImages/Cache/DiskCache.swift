internal import Dispatch
internal import Glibc
internal import IntertwineHTTPServer
internal import IntertwinePrimitives
internal import Logging
internal import Synchronization

/// A crash-safe disk cache of complete images with a hard limit in bytes.
final class DiskCache: Sendable {
    struct Counts: Sendable {
        var bytes = 0
        var entries = 0
        var evictions = 0
        /// The number of images not stored because the disk was full or failed.
        var writeFailures = 0
        var damaged = 0
    }

    private struct State: Sendable {
        var index = DiskIndex()
        var counts = Counts()
        var pending: [String: CachedImage] = [:]
        var pendingBytes = 0
        var disabledUntil: ContinuousClock.Instant?
        var lastWarning: ContinuousClock.Instant?
        var sweeps: [UInt64: @Sendable (String) -> Bool] = [:]
        var lastSweep: UInt64 = 0
        /// This process no longer finds them, but the next one would; each purge retries the deletion.
        var undeleted: Set<String> = []
    }

    private static let temporary = "tmp"
    private static let errorCooldown = Duration.seconds(10)
    private static let warningInterval = Duration.seconds(60)

    private let folder: String
    private let capacity: Int
    private let writer = DispatchQueue(label: "intertwine.images.disk.write", qos: .utility)
    private let sweeper = DispatchQueue(label: "intertwine.images.disk.sweep", qos: .utility)
    private let reader = DispatchQueue(label: "intertwine.images.disk.read")
    private let state = Mutex(State())
    private let budget: MemoryBudget
    private let mostPending: Int
    private let logger: Logger

    init(
        folder: String, capacity: Int, budget: MemoryBudget = MemoryBudget(limit: 128 << 20),
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

    func accepts(_ bytes: Int) -> Bool {
        DiskIndex.room(for: bytes) + DiskIndex.room(for: ImageFile.besideBody) <= Self.largest(capacity)
            && state.withLock { !Self.isDisabled($0) && ($0.pendingBytes == 0 || $0.pendingBytes + bytes <= mostPending) }
    }

    private static func isDisabled(_ state: State) -> Bool { state.disabledUntil.map { .now < $0 } ?? false }

    private static func trouble(with folder: String) -> Int32? {
        for part in [folder, "\(folder)/\(temporary)"] {
            if !OwnedFile.makeFolder(part), errno != EEXIST { return errno }
            if access(part, W_OK | X_OK) != 0 { return errno }
        }
        return nil
    }

    private func failed(_ error: Int32) {
        let isFolder = [EROFS, EACCES, EPERM, ENOTDIR, ENOENT].contains(error)
        let shouldWarn = state.withLock { state in
            if isFolder { state.disabledUntil = .now + Self.errorCooldown }
            if let last = state.lastWarning, .now < last + Self.warningInterval { return false }
            state.lastWarning = .now
            return true
        }
        guard shouldWarn else { return }
        logger.warning(
            "images cannot be cached on disk",
            metadata: ["folder": "\(folder)", "error": "\(String(cString: strerror(error)))"])
    }

    /// Returns the largest file. Why: one image must not evict most of the others.
    private static func largest(_ capacity: Int) -> Int { capacity / 2 }

    func contains(_ source: String, _ wanted: AcceptedFormats.Set) -> Bool {
        state.withLock { Self.storedPath(source, wanted, $0) != nil }
    }

    func contains(_ resizeKey: ResizeKey) -> Bool {
        let name = Self.name(resizeKey.source, resizeKey.key)
        return state.withLock { $0.pending[name] != nil || $0.index.entries[name] != nil }
    }

    private static func storedPath(_ source: String, _ wanted: AcceptedFormats.Set, _ state: State) -> String? {
        [name(source), name(CachedImage.key(source, wanted))].first { state.pending[$0] != nil || state.index.entries[$0] != nil }
    }

    func read(_ source: String, _ wanted: AcceptedFormats.Set, done: @escaping @Sendable (CachedImage?) -> Void) {
        read(source, named: { Self.storedPath(source, wanted, $0) }, done: done)
    }

    func read(_ resizeKey: ResizeKey, done: @escaping @Sendable (CachedImage?) -> Void) {
        let name = Self.name(resizeKey.source, resizeKey.key)
        read(resizeKey.source, named: { $0.pending[name] != nil || $0.index.entries[name] != nil ? name : nil }) { image in
            // Two keys may share a name, because the suffix is truncated.
            done(image?.key == resizeKey.key ? image : nil)
        }
    }

    private func read(_ source: String, named: (State) -> String?, done: @escaping @Sendable (CachedImage?) -> Void) {
        let (storedName, pending) = state.withLock { state in
            let name = named(state)
            if let name { state.index.touch(name) }
            return (name, name.flatMap { state.pending[$0] })
        }
        if let pending { return done(pending) }
        guard let name = storedName else { return done(nil) }
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
        // The origin negotiates formats, so the common entry is invalid.
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
            // If the image was removed or replaced meanwhile, the latest request counts.
            if self.state.withLock({ $0.pending[name] === image }) { self.store(image) }
            self.state.withLock { state in
                state.pendingBytes -= bytes
                if state.pending[name] === image { state.pending[name] = nil }
            }
            self.budget.release(bytes)
        }
    }

    func remove(_ source: String, done: (@Sendable (Bool) -> Void)? = nil) {
        remove(keys: CachedImage.keys(source), madeOf: source, done: done)
    }

    private func remove(keys: [String], madeOf source: String? = nil, done: (@Sendable (Bool) -> Void)? = nil) {
        // Lookups no longer find the images. The files are deleted on the writer queue, in order with pending writes.
        let family = source.map { Self.name($0) }
        let removed = state.withLock { state in
            let variants = family.map { family in
                state.index.variants(of: family) + state.pending.keys.filter { $0.hasPrefix(family) && $0 != family }
            }
            return (keys.map { Self.name($0) } + (variants ?? [])).filter { name in
                guard state.pending.removeValue(forKey: name) != nil || state.index.entries[name] != nil else { return false }
                state.index.remove(name)
                return true
            }
        }
        guard !removed.isEmpty || done != nil else { return }
        writer.async {
            for name in removed { self.drop(name, isDamaged: false) }
            done?(self.isNothingLeft())
        }
    }

    func remove(where isGone: @escaping @Sendable (String) -> Bool, done: @escaping @Sendable (Bool) -> Void) {
        let (sweep, pending) = state.withLock { state in
            let pending = state.pending.filter { isGone($0.value.source) }.map(\.key)
            for name in pending { state.pending[name] = nil }
            state.lastSweep += 1
            state.sweeps[state.lastSweep] = isGone
            return (state.lastSweep, pending)
        }
        writer.async {
            // A write of one of them may have been in progress.
            for name in pending { self.drop(name, isDamaged: false) }
            // The files are read beside the writer queue, because reading all of them can take minutes.
            let names = self.state.withLock { Array($0.index.entries.keys) }
            self.sweeper.async {
                for name in names {
                    let source = FileBytes.read(self.path(name), upTo: ImageFile.besideBody).flatMap(ImageFile.source)
                    // An unreadable file is removed, too.
                    if source.map(isGone) ?? true { self.writer.async { self.drop(name, isDamaged: false) } }
                }
                self.writer.async {
                    self.state.withLock { $0.sweeps[sweep] = nil }
                    done(self.isNothingLeft())
                }
            }
        }
    }

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
        // The folders are created again, because an operator may have emptied or removed them.
        for part in [folder, "\(folder)/\(Self.temporary)", "\(folder)/\(name.prefix(2))"] { _ = OwnedFile.makeFolder(part) }
        let error = FileBytes.write(bytes, to: aside) ?? (rename(aside, path(name)) == 0 ? nil : errno)
        let isWritten = error == nil
        if let error {
            unlink(aside)
            failed(error)
        }
        state.withLock { state in
            state.index.release(room)
            if isWritten { state.undeleted.remove(name) }
            if isWritten, state.pending[name] === image {
                state.index.insert(name, bytes: room)
            } else if !isWritten {
                state.counts.writeFailures += 1
            }
        }
    }

    /// Evicts images at 95 % of the limit, down to 85 %. Why: not every new image has to evict another one.
    private func makeRoom(for room: Int) {
        let uses = state.withLock { $0.index.bytes + room > capacity / 100 * 95 ? $0.index.uses : nil }
        guard var uses else { return }
        // The sort is outside the lock: the index may have half a million entries, and event loops look up images.
        uses.sort { $0.used < $1.used }
        let removed = state.withLock { [uses] state in
            let removed = state.index.evict(uses, downTo: capacity / 100 * 85 - room)
            state.counts.evictions += removed.count
            return removed
        }
        for name in removed {
            unlink(path(name))
        }
    }

    private func forgetMissing(_ name: String) {
        guard access(path(name), F_OK) != 0, errno == ENOENT else { return }
        state.withLock { $0.index.remove(name) }
    }

    private func drop(_ name: String, isDamaged: Bool) {
        state.withLock { state in
            state.index.remove(name)
            if isDamaged { state.counts.damaged += 1 }
        }
        let error = unlink(path(name)) == 0 || errno == ENOENT ? nil : errno
        state.withLock { if error == nil { $0.undeleted.remove(name) } else { $0.undeleted.insert(name) } }
        if let error { failed(error) }
    }

    private func isNothingLeft() -> Bool {
        for name in state.withLock({ $0.undeleted }) { drop(name, isDamaged: false) }
        return state.withLock { $0.undeleted.isEmpty }
    }

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

    private static func name(_ source: String, _ key: String) -> String { name(source) + "-" + name(key).prefix(16) }

    private static func name(_ image: CachedImage) -> String {
        image.sizing == nil ? name(image.key) : name(image.source, image.key)
    }
}
