import Glibc
package import IntertwineFeed
internal import IntertwinePrimitives

/// Memory is bounded by the size of the pieces, one item and SQLite's cache. Not `Sendable`: one caller at a time, and its calls block.
package final class ItemImport {
    private static let pieceSize = 1 << 18
    private static let batchSize = 256

    private enum Coding {
        case undecided([UInt8])
        case identity
        case gzip(GzipInflater)
    }

    private let path: String
    private let kinds: ItemKinds
    private let policy: BadItemPolicy
    private let report: (InvalidItem) -> Void
    private let limit: Int
    private let isCompressed: Bool
    private var coding = Coding.undecided([])
    private var length = 0
    private var files = 0
    private var reader: ItemReader
    private var queue: ImportQueue?
    private var batch: [ValidatedItem] = []
    /// Campaigns are written last, because their ads may follow them.
    private var campaigns = DeferredCampaignChecks()
    private var progress = ImportSummary()

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

    package func add(
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

    package var summary: ImportSummary {
        var summary = progress
        if let counts = queue?.counts {
            (summary.added, summary.replaced, summary.withheld) = (counts.added, counts.replaced, counts.withheld)
        }
        return summary
    }

    package func append(_ bytes: some Collection<UInt8>) throws {
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

    package func endOfFile() throws {
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

    package func commit(_ committing: () -> Void = {}) throws -> ImportSummary {
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

    package func rollback() {
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

package struct ImportSummary: Sendable, Hashable {
    package var bytes = 0
    package var added = 0
    package var replaced = 0
    package var skipped = 0
    package var omittedValues = 0
    /// Items that were skipped because they are taken down (``Takedown``).
    package var withheld = BlockedItems()
    package var first: [ItemKey] = []

    static let firstLimit = 100

    package var items: Int { added + replaced + skipped + withheld.count }

    package init() {}
}

package enum BadItemPolicy: String, Sendable, Hashable, CaseIterable {
    case stop
    case skip
}
