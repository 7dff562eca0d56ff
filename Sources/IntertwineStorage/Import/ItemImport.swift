import GRDB
import Glibc
public import IntertwineFeed

/// Puts the items of one file or several into a store, all in one transaction: nobody sees any of them before ``commit(_:)``, and whatever
/// ends the process before that leaves the store as it was.
///
/// Bytes may come from a descriptor (``add(contentsOf:progress:)``) or piece by piece (``append(_:)`` and ``endOfFile()``). Memory stays
/// bounded by the size of the pieces, one item and SQLite's cache. Not `Sendable`: one caller at a time, and its calls block.
public final class ItemImport {
    /// Bytes read from a descriptor at once.
    private static let pieceSize = 1 << 18
    /// Items written at once.
    private static let batchSize = 256

    /// How the bytes of a file are written.
    private enum Coding {
        /// Its first bytes, too few to tell.
        case undecided([UInt8])
        case identity
        case gzip(GzipInflater)
    }

    /// For messages.
    private let path: String
    private let kinds: ItemKinds
    private let policy: BadItemPolicy
    private let report: (InvalidItem) -> Void
    private let limit: Int
    private let isCompressed: Bool
    private var coding = Coding.undecided([])
    /// Bytes of all files, decompressed.
    private var length = 0
    /// How many files are read to their ends.
    private var files = 0
    private var reader: ItemReader
    private var queue: ImportQueue?
    private var batch: [ValidatedItem] = []
    /// They come last: their advertisements may come behind them.
    private var campaigns = DeferredCampaignChecks()
    private var progress = ImportSummary()

    /// Nothing of the store is locked before ``commit(_:)``, and where there is no store yet, there is none before that either.
    ///
    /// - Parameters:
    ///   - sections: lays the store out anew, in the same transaction; it stays as it is where they are empty.
    ///   - isCompressed: whether each file has to be gzip. One that begins as gzip is read as gzip in any case.
    ///   - limit: bytes of all files, decompressed.
    ///   - isRehearsal: whether everything is read, checked and counted, and nothing written.
    ///   - report: called for each item that is left out under ``BadItemPolicy/skip``.
    public convenience init(
        into path: String, kinds: ItemKinds = .standard, sections: [SectionConfiguration] = [], policy: BadItemPolicy = .stop,
        isCompressed: Bool = false, limit: Int = .max, isRehearsal: Bool = false, report: @escaping (InvalidItem) -> Void = { _ in }
    ) throws(StoreError) {
        self.init(
            into: try Self.destination(path, sections, isRehearsal: isRehearsal), at: path, kinds: kinds, policy: policy,
            isCompressed: isCompressed, limit: limit, report: report)
    }

    /// The same for a store that is no file.
    ///
    /// - Parameter place: what the store is called in messages.
    package init(
        into destination: any ImportDestination, at place: String, kinds: ItemKinds = .standard, policy: BadItemPolicy = .stop,
        isCompressed: Bool = false, limit: Int = .max, report: @escaping (InvalidItem) -> Void = { _ in }
    ) {
        self.path = place
        self.kinds = kinds
        self.policy = policy
        self.report = report
        self.isCompressed = isCompressed
        self.limit = limit
        reader = ItemReader(kinds: kinds)
        queue = ImportQueue(destination)
    }

    private static func destination(
        _ path: String, _ sections: [SectionConfiguration], isRehearsal: Bool
    ) throws(StoreError) -> any ImportDestination {
        do {
            guard !isRehearsal else { return try DryRunImport(path) }
            DraftFile.removeAbandoned(path)
            let isNew = access(path, F_OK) != 0 && errno == ENOENT
            return isNew ? try NewFileImport(path, sections: sections) : try StoreDestination(path, sections: sections)
        } catch let error as StoreError {
            throw error
        } catch let error as DatabaseError {
            throw StoreError(error)
        } catch {
            throw .unavailable("\(error)")
        }
    }

    deinit {
        rollback()
    }

    /// Reads one file from an open descriptor to its end.
    ///
    /// - Parameters:
    ///   - name: what the file is called in messages.
    ///   - progress: called after each piece of the file.
    /// - Throws: `InvalidItem` under ``BadItemPolicy/stop``, `StoreError`, which says so if the file cannot be read; all is taken back then.
    public func add(
        contentsOf descriptor: Int32, named name: String = "the file", progress: (ImportSummary) -> Void = { _ in }
    ) throws {
        var piece = [UInt8](repeating: 0, count: Self.pieceSize)
        while true {
            let count = piece.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                let reason = String(cString: strerror(errno))
                rollback()
                throw StoreError.unavailable("\(name): cannot be read: \(reason); nothing was imported")
            }
            guard count > 0 else { break }
            try append(piece[..<count])
            progress(summary)
        }
        try endOfFile()
    }

    /// What has been read and, as far as it is written already, what became of it.
    public var summary: ImportSummary {
        var summary = progress
        if let counts = queue?.counts {
            (summary.added, summary.replaced, summary.withheld) = (counts.added, counts.replaced, counts.withheld)
        }
        return summary
    }

    /// Takes the next bytes of the file that is being read.
    ///
    /// - Throws: `InvalidItem` under ``BadItemPolicy/stop``, `ItemFileError`, `StoreError`; all is taken back then.
    public func append(_ bytes: some Collection<UInt8>) throws {
        progress.bytes += bytes.count
        switch coding {
        case .undecided(let first):
            let known = first + bytes
            if isCompressed || known.starts(with: GzipInflater.magic) {
                coding = .gzip(GzipInflater())
            } else if known.count >= GzipInflater.magic.count {
                coding = .identity
            } else {
                coding = .undecided(known)
                return
            }
            try decode(known)
        case .identity, .gzip: try decode(bytes)
        }
    }

    /// The file is over; another may follow.
    ///
    /// - Throws: as ``append(_:)`` does.
    public func endOfFile() throws {
        switch coding {
        case .undecided(let first):
            guard !isCompressed else { return try rollingBack { _ in throw ItemFileError.brokenGzip("it is empty") } }
            try consume(first)
        case .identity: break
        case .gzip(let inflater): try rollingBack { _ in try inflater.finish() }
        }
        coding = .undecided([])
        reader.end()
        try drain()
        reader = ItemReader(kinds: kinds)
        files += 1
    }

    private func decode(_ bytes: some Collection<UInt8>) throws {
        guard case .gzip(let inflater) = coding else { return try consume(bytes) }
        try rollingBack { _ in
            try inflater.inflate(Array(bytes)) { try consume($0) }
        }
    }

    private func consume(_ bytes: some Collection<UInt8>) throws {
        length += bytes.count
        reader.append(bytes)
        try drain()
    }

    /// Makes everything visible, at once and durably. Where there is a store, other writes of items wait from here on, and it is put there on
    /// the caller's thread; it is waited for up to 60 s until no other import does that.
    ///
    /// - Parameter committing: called when everything is in its place and what is left is to make it visible: before it nothing is imported,
    ///   whatever ends the process.
    public func commit(_ committing: () -> Void = {}) throws -> ImportSummary {
        try rollingBack { queue in
            try queue.put(batch)
            batch = []
            let found = campaigns.isEmpty ? FoundItems() : try queue.find(campaigns.keys(kinds))
            for result in campaigns.checked(kinds, found) {
                switch result {
                case .success(let item): batch.append(item)
                case .failure(let bad): try refuse(bad)
                }
            }
            try queue.put(batch)
            try queue.commit(committing)
        }
        progress = summary
        queue = nil
        return progress
    }

    /// Takes everything back.
    public func rollback() {
        guard let queue else { return }
        self.queue = nil
        queue.rollback()
    }

    private func drain() throws {
        try rollingBack { queue in
            while true {
                guard length <= limit else { throw ItemFileError.tooLong(limit: limit) }
                switch reader.next() {
                case .item(let item):
                    if item.kind == Campaign.kind {
                        let place = reader.last
                        if let bad = campaigns.check(item, line: place.line, index: place.index, offset: place.offset, file: files) {
                            try refuse(bad)
                            continue
                        }
                    }
                    if progress.first.count < ImportSummary.firstLimit { progress.first.append(ItemKey(item)) }
                    guard item.kind != Campaign.kind else { continue }
                    batch.append(item)
                    if batch.count >= Self.batchSize {
                        try queue.put(batch)
                        batch.removeAll(keepingCapacity: false)
                    }
                case .bad(var item):
                    item.file = files
                    try refuse(item)
                case .unreadable(let fault): throw fault
                case .needsBytes, .finished: return
                }
            }
        }
    }

    private func refuse(_ item: InvalidItem) throws(InvalidItem) {
        guard policy == .skip else { throw item }
        progress.skipped += 1
        report(item)
    }

    private func rollingBack(_ body: (ImportQueue) throws -> Void) throws {
        guard let queue else { throw StoreError.unavailable("the import is over") }
        do {
            try body(queue)
        } catch {
            rollback()
            guard let error = error as? DatabaseError else { throw error }
            throw StoreError.unavailable("\(path): \(StoreError(error)); nothing was imported")
        }
    }
}

/// How far an import is, and at its end, what it did.
public struct ImportSummary: Sendable, Hashable {
    /// Bytes read, of all files.
    public var bytes = 0
    public var added = 0
    public var replaced = 0
    public var skipped = 0
    /// Left out because they were taken down (``Takedown``).
    public var withheld = BlockedItems()
    /// The first good items, up to ``firstLimit`` of them.
    public var first: [ItemKey] = []

    public static let firstLimit = 100

    /// Items read, whatever became of them.
    public var items: Int { added + replaced + skipped + withheld.count }

    public init() {}
}

/// What an import does about an item that is not valid.
public enum BadItemPolicy: String, Sendable, Hashable, CaseIterable {
    /// Ends the import and takes all of it back.
    case stop
    /// Leaves it out, reports it, and goes on.
    case skip
}
