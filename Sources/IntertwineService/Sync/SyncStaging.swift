internal import Dispatch
internal import IntertwineFeed
internal import IntertwineImages
internal import IntertwinePrimitives
internal import IntertwineStorage
internal import Synchronization

/// A snapshot builder that a task uses: it reads pages into a snapshot and applies it.
/// `@unchecked Sendable`: only the serial queue accesses the state, except the flag.
final class SyncStaging: @unchecked Sendable {
    private static let batchSize = 256

    private let source: RemoteSource
    private let location: any ItemLocation
    private let report: @Sendable (BadSourceItem) -> Void
    private let queue: DispatchQueue
    private let isCancelled = Atomic(false)

    private var snapshot: (any SourceCollection)?
    private var page: [UInt8] = []
    private var hash = SHA256()
    private var list: [UInt8]?
    private var areLines = false
    private var batch: [(item: ValidatedItem, number: Int)] = []
    private var progress = SourceProgress()

    init(_ source: RemoteSource, into location: any ItemLocation, report: @escaping @Sendable (BadSourceItem) -> Void) {
        self.source = source
        self.location = location
        self.report = report
        queue = DispatchQueue(label: "intertwine.source.\(source.name)")
    }

    func beginPage() async throws {
        try await perform { stage in
            _ = try stage.opened()
            stage.page = []
            stage.hash = SHA256()
            stage.progress.pages += 1
        }
    }

    func append(_ bytes: [UInt8]) async throws -> SourceProgress {
        try await perform { stage in
            stage.hash.update(data: bytes)
            stage.progress.bytes += bytes.count
            guard stage.page.count + bytes.count <= RemotePage.limit else {
                throw SourceError.tooMuch("page \(stage.progress.pages) has more than \(RemotePage.limit) bytes")
            }
            stage.page += bytes
            return stage.progress
        }
    }

    /// `digest` is empty for a page without a list.
    func endPage(of head: FetchHead) async throws -> (digest: [UInt8], cursor: String?, elements: Int, progress: SourceProgress) {
        try await perform { stage in
            guard let (cursor, elements) = try stage.readPage(of: head) else { return ([], nil, 0, stage.progress) }
            return (Array(stage.hash.digest()), cursor, elements, stage.progress)
        }
    }

    func apply(_ onProgress: @escaping @Sendable (SourceProgress) -> Void) async throws -> SourceChanges {
        try await withTaskCancellationHandler {
            try await perform { stage in
                guard let snapshot = stage.snapshot else { throw SnapshotRejection.empty }
                guard stage.progress.items > 0 || stage.progress.skipped == 0 else { throw SourceError.allInvalid(stage.progress.invalid) }
                stage.snapshot = nil
                var progress = stage.progress
                return try snapshot.apply(removing: stage.source.removable) { done in
                    if stage.isCancelled.load(ordering: .relaxed) { throw CancellationError() }
                    progress.phase = .applying(done)
                    onProgress(progress)
                }
            }
        } onCancel: {
            isCancelled.store(true, ordering: .relaxed)
        }
    }

    func isInStep() async throws -> Bool {
        try await perform { try $0.opened().isInStep() }
    }

    private func opened() throws -> any SourceCollection {
        if let snapshot { return snapshot }
        let opened = try location.collection(of: source.name, kind: source.kind)
        snapshot = opened
        return opened
    }

    func discard() async {
        try? await perform { stage in
            stage.snapshot?.discard()
            stage.snapshot = nil
        }
    }

    private func readPage(of head: FetchHead) throws -> (cursor: String?, elements: Int)? {
        defer { page = [] }
        do {
            let page = try RemotePage(
                page, items: source.items, key: source.key, cursor: source.next.pointer, at: head.url.text, isLatin: head.isLatin,
                areLines: head.areLines, continuesLines: areLines, mayEnd: source.next.isCounted && progress.pages > 1)
            if progress.pages == 1 { areLines = page.isLines }
            guard page.hasList else {
                progress.pages -= 1
                return nil
            }
            if source.next.isCounted {
                // Some origins answer a number beyond the last page with the last page.
                let digest = page.listDigest
                guard list != digest else {
                    // Or the API ignores the parameter, so that everything after the first page would be missing.
                    if progress.pages == 2 { throw SourceError.ignored }
                    return (nil, 0)
                }
                list = digest
            }
            var number = 0
            let leavingOut: ((ItemError) -> Void)? =
                source.policy == .skip ? { [self] in omit($0, number: number + 1) } : nil
            var first: BadSourceItem?
            let hasItem = try page.forEachItem(
                of: source.kind, source.fields, where: source.conditions, leavingOut: leavingOut
            ) { element in
                number += 1
                switch element {
                case nil: break
                case .success(let item):
                    batch.append((item, number))
                    if batch.count >= Self.batchSize { try flush() }
                case .failure(let fault):
                    first = first ?? BadSourceItem(page: progress.pages, number: number, fault: fault)
                    try refuse(fault, number: number)
                }
            }
            guard hasItem else { throw SourceError.allInvalid([first?.description ?? "page \(progress.pages): no item has an id"]) }
            try flush()
            if case .after(let pointer, _) = source.next { return (try page.cursor(ofLastItemAt: pointer), number) }
            return (page.cursor, number)
        } catch let error as RemotePageError {
            throw SourceError.document(error, page: progress.pages)
        }
    }

    private func flush() throws {
        guard let snapshot, !batch.isEmpty else { return }
        let repeated = try snapshot.add(batch.map(\.item))
        progress.items += batch.count - repeated.count
        let accepted = batch
        batch.removeAll(keepingCapacity: true)
        for index in repeated {
            try refuse(ItemError(field: "id", reason: "occurs twice in the list"), number: accepted[index].number)
        }
        guard progress.items <= source.itemLimit else {
            throw SourceError.tooMuch("the list has more than \(source.itemLimit) items; max-items allows more")
        }
    }

    private func refuse(_ fault: ItemError, number: Int) throws {
        let bad = BadSourceItem(page: progress.pages, number: number, fault: fault)
        guard source.policy == .skip else { throw SourceError.item(bad) }
        progress.skipped += 1
        name(bad)
    }

    private func omit(_ fault: ItemError, number: Int) {
        progress.omittedValues += 1
        name(BadSourceItem(page: progress.pages, number: number, fault: fault, isKept: true))
    }

    private func name(_ bad: BadSourceItem) {
        if progress.invalid.count < SourceProgress.namedLimit { progress.invalid.append(bad.description) }
        report(bad)
    }

    private func perform<Value: Sendable>(_ body: @escaping @Sendable (SyncStaging) throws -> Value) async throws -> Value {
        try await queue.perform { try body(self) }
    }
}

package struct SourceProgress: Sendable, Hashable {
    package enum Phase: Sendable, Hashable {
        case reading
        case applying(Int)
    }

    package var phase = Phase.reading
    package var pages = 0
    package var items = 0
    package var skipped = 0
    package var omittedValues = 0
    package var invalid: [String] = []
    package static let namedLimit = 10
    package var bytes = 0

    package init() {}
}
