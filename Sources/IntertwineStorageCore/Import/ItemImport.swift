import Glibc
package import IntertwineFeed
internal import IntertwinePrimitives

/// An import of items from one or several files into a store, in one transaction.
///
/// ```swift
/// let session = try ItemImport(into: "items.sqlite", policy: .skip) { print($0) }
/// try session.add(contentsOf: FileHandle.standardInput.fileDescriptor)
/// let summary = try session.commit()
/// ```
///
/// No item is visible before ``commit(_:)``. If the process ends before it, the store is unchanged.
/// Bytes come from a descriptor (`add(contentsOf:progress:)`) or in pieces (``append(_:)`` and ``endOfFile()``).
/// Memory is bounded by the size of the pieces, one item and SQLite's cache. Not `Sendable`: one caller at a time, and its calls block.
public final class ItemImport {
    /// The number of bytes that are read from a descriptor at once.
    private static let pieceSize = 1 << 18
    /// The number of items that are written at once.
    private static let batchSize = 256

    /// The encoding of a file.
    private enum Coding {
        /// The first bytes of a file, which are too few to detect gzip.
        case undecided([UInt8])
        case identity
        case gzip(GzipInflater)
    }

    /// The path of the store for messages.
    private let path: String
    private let kinds: ItemKinds
    private let policy: BadItemPolicy
    /// Called with skipped items and with values that are left out.
    private let report: (InvalidItem) -> Void
    private let limit: Int
    private let isCompressed: Bool
    private var coding = Coding.undecided([])
    /// The number of decompressed bytes of all files.
    private var length = 0
    /// The number of files that were read completely.
    private var files = 0
    private var reader: ItemReader
    private var queue: ImportQueue?
    private var batch: [ValidatedItem] = []
    /// Campaigns are written last, because their ads may follow them.
    private var campaigns = DeferredCampaignChecks()
    private var progress = ImportSummary()

    /// Begins an import into any destination.
    ///
    /// - Parameter position: the name of the store in messages.
    package init(
        into destination: any ImportDestination, at position: String, kinds: ItemKinds = .standard, policy: BadItemPolicy = .stop,
        isCompressed: Bool = false, limit: Int = .max, report: @escaping (InvalidItem) -> Void = { _ in }
    ) {
        self.path = position
        self.kinds = kinds
        self.policy = policy
        self.report = report
        self.isCompressed = isCompressed
        self.limit = limit
        reader = ItemReader(kinds: kinds, leavesOut: policy == .skip)
        queue = ImportQueue(destination)
    }

    deinit {
        rollback()
    }

    /// Reads one file from an open descriptor to its end.
    ///
    /// ```swift
    /// let descriptor = open("items.json", O_RDONLY)
    /// defer { close(descriptor) }
    /// try session.add(contentsOf: descriptor, named: "items.json") { print($0.items) }
    /// ```
    ///
    /// - Parameters:
    ///   - name: the name of the file in messages.
    ///   - progress: called after each piece of the file.
    /// - Throws: `InvalidItem` under ``BadItemPolicy/stop``, or `StoreError`, for example if the file cannot be read. All changes are reverted.
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

    /// The counts of items read so far, and of their changes as far as they are written.
    public var summary: ImportSummary {
        var summary = progress
        if let counts = queue?.counts {
            (summary.added, summary.replaced, summary.withheld) = (counts.added, counts.replaced, counts.withheld)
        }
        return summary
    }

    /// Appends the next bytes of the current file.
    ///
    /// ```swift
    /// for try await chunk in body { try session.append(chunk) }
    /// try session.endOfFile()
    /// ```
    ///
    /// - Throws: `InvalidItem` under ``BadItemPolicy/stop``, `ItemFileError`, `StoreError`; all changes are reverted.
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

    /// Ends the current file; another one may follow.
    ///
    /// - Throws: as ``append(_:)`` does.
    public func endOfFile() throws {
        switch coding {
        case .undecided(let first):
            guard !isCompressed else { return try rollingBack { _ in throw ItemFileError.brokenGzip("it is empty") } }
            try consume(first)
        case .identity: break
        case .gzip(let inflater):
            guard inflater.isComplete else { return try rollingBack { _ in throw ItemFileError.brokenGzip("it is truncated") } }
        }
        coding = .undecided([])
        reader.end()
        try drain()
        reader = ItemReader(kinds: kinds, leavesOut: policy == .skip)
        files += 1
    }

    private func decode(_ bytes: some Collection<UInt8>) throws {
        guard case .gzip(let inflater) = coding else { return try consume(bytes) }
        try rollingBack { _ in
            do {
                try Array(bytes).withUnsafeBytes { try inflater.inflate($0) { try consume($0) } }
            } catch let failure as GzipInflater.Failure {
                throw ItemFileError.brokenGzip(failure.reason)
            }
        }
    }

    private func consume(_ bytes: some Collection<UInt8>) throws {
        length += bytes.count
        reader.append(bytes)
        try drain()
    }

    /// Makes all items visible at once and durable.
    ///
    /// In an existing store, other writes of items wait until the call returns. The items are transferred on the caller's thread, after a wait of
    /// up to 60 s for another import to end.
    ///
    /// ```swift
    /// let summary = try session.commit()
    /// print("\(summary.added) added, \(summary.replaced) replaced")
    /// ```
    ///
    /// - Parameter committing: called when all items are read and staged, before the transaction. If the process ends before this call,
    ///   nothing is imported.
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

    /// Reverts all changes.
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
                    for var value in reader.leftOut {
                        value.file = files
                        progress.omittedValues += 1
                        report(value)
                    }
                    if item.kind == Campaign.kind {
                        let position = reader.last
                        if let bad = campaigns.check(item, line: position.line, index: position.index, offset: position.offset, file: files)
                        {
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
            guard let error = error as? any DatabaseFailure else { throw error }
            throw StoreError.unavailable("\(path): \(error.storeError); nothing was imported")
        }
    }
}

/// The progress of an import, and its result at the end.
///
/// ```swift
/// let summary = try session.commit()
/// if summary.withheld.count > 0 { print("taken down: \(summary.withheld)") }
/// summary.first.first  // The key of the first item of the file.
/// ```
public struct ImportSummary: Sendable, Hashable {
    /// The number of bytes read from all files.
    public var bytes = 0
    /// The number of items that the store did not contain.
    public var added = 0
    /// The number of items that replaced an item of equal kind and id.
    public var replaced = 0
    /// The number of invalid items that were skipped under ``BadItemPolicy/skip``.
    public var skipped = 0
    /// The number of invalid values of optional fields that items lack under ``BadItemPolicy/skip``.
    public var omittedValues = 0
    /// Items that were skipped because they are taken down (``Takedown``).
    public var withheld = BlockedItems()
    /// The first valid items, up to ``firstLimit``.
    public var first: [ItemKey] = []

    /// The maximum number of items in ``first``: 100.
    public static let firstLimit = 100

    /// The number of items read, with any result.
    public var items: Int { added + replaced + skipped + withheld.count }

    /// Creates a summary of an import that has read nothing.
    public init() {}
}

/// The handling of invalid items by an import.
public enum BadItemPolicy: String, Sendable, Hashable, CaseIterable {
    /// Ends the import and reverts all changes.
    case stop
    /// Skips and reports the item, and continues. An item with an invalid value of an optional field is kept without it.
    case skip
}
