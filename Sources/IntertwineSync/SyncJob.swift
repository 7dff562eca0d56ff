internal import Crypto
internal import Glibc
public import IntertwineFeed
public import IntertwineFetch
internal import IntertwinePrimitives
public import IntertwineStorage

/// One synchronisation: reads all pages of a source into a snapshot, makes sure that they belong together, and applies it in one transaction.
/// Whatever goes wrong before that leaves the store as it was.
public struct SyncJob: Sendable {
    /// How often a list that changes while it is read is begun anew.
    private static let attempts = 3

    private let source: RemoteSource
    private let transfers: CurlClient
    private let location: any ItemLocation
    private let report: @Sendable (BadSourceItem) -> Void
    private let onProgress: @Sendable (SourceProgress) -> Void
    private let version: @Sendable () -> StoreVersion?

    /// - Parameters:
    ///   - transfers: whose address policy holds for the source and for wherever it leads.
    ///   - database: the store's file.
    ///   - report: told of each item that is left out under `BadItemPolicy.skip`. From any thread.
    ///   - told: told how far it is, often. From any thread.
    ///   - version: the store's; where it is what it was, nobody can have touched what the source brought. Nil has it looked through each time.
    public init(
        _ source: RemoteSource, transfers: CurlClient, database: String, report: @escaping @Sendable (BadSourceItem) -> Void = { _ in },
        onProgress: @escaping @Sendable (SourceProgress) -> Void = { _ in }, version: @escaping @Sendable () -> StoreVersion? = { nil }
    ) {
        self.init(source, transfers: transfers, into: ItemFile(database), report: report, onProgress: onProgress, version: version)
    }

    /// The same for items that need not be in a file.
    package init(
        _ source: RemoteSource, transfers: CurlClient, into location: any ItemLocation,
        report: @escaping @Sendable (BadSourceItem) -> Void = { _ in }, onProgress: @escaping @Sendable (SourceProgress) -> Void = { _ in },
        version: @escaping @Sendable () -> StoreVersion? = { nil }
    ) {
        self.source = source
        self.transfers = transfers
        self.location = location
        self.report = report
        self.onProgress = onProgress
        self.version = version
    }

    /// - Parameter memory: of the last synchronisation, brought up to date; an empty one makes everything be read and compared.
    /// - Throws: ``SourceError``, or `CancellationError` where the task is cancelled.
    public func run(_ memory: inout HTTPValidatorCache) async throws -> SourceOutcome {
        do {
            let outcome = try await synchronise(&memory)
            SourceRecord(of: outcome).save(source.name, beside: location.companions)
            return outcome
        } catch let error as SnapshotRejection {
            throw SourceError.refused(error)
        } catch let error as StoreError {
            throw SourceError.store(error)
        }
    }

    private func synchronise(_ memory: inout HTTPValidatorCache) async throws -> SourceOutcome {
        var mayAsk = !memory.pages.isEmpty && memory.pages.allSatisfy(\.hasValidator)
        for _ in 0..<Self.attempts {
            let stage = SyncStaging(source, into: location, report: report)
            do {
                guard let read = try await readAll(stage, ifChangedSince: mayAsk ? memory.pages.first : nil) else {
                    // The first page is as it was; the others have to say so too.
                    if try await areUnchanged(memory.pages.dropFirst(), from: 2), try await isInStep(stage, &memory) {
                        await stage.discard()
                        return unchanged(memory)
                    }
                    await stage.discard()
                    mayAsk = false
                    continue
                }
                if source.isVerified, read.pages.count > 1 {
                    // The last page was read just now: those before it must still be what they were.
                    guard try await areUnchanged(read.pages.dropLast(), from: 1) else {
                        await stage.discard()
                        mayAsk = false
                        continue
                    }
                }
                let isKnown = !memory.pages.isEmpty && memory.pages.map(\.digest) == read.pages.map(\.digest)
                var outcome = SourceOutcome(
                    pages: read.pages.count, items: read.progress.items, skipped: read.progress.skipped, bytes: read.progress.bytes)
                if isKnown, try await isInStep(stage, &memory) {
                    await stage.discard()
                } else {
                    outcome.changes = try await stage.apply(onProgress)
                }
                memory.pages = read.pages
                memory.items = read.progress.items
                memory.skipped = read.progress.skipped
                return outcome
            } catch {
                await stage.discard()
                try Task.checkCancellation()
                throw error
            }
        }
        throw SourceError.changing(attempts: Self.attempts)
    }

    /// Whether the store has what the source brought last, as far as nobody else's writing says anything: a list that is what it was is then
    /// nothing to compare.
    private func isInStep(_ stage: SyncStaging, _ memory: inout HTTPValidatorCache) async throws -> Bool {
        // Read first: what is written meanwhile is looked at the next time.
        let version = version()
        if let version, version == memory.version { return true }
        guard try await stage.isInStep() else { return false }
        memory.version = version
        return true
    }

    private func unchanged(_ memory: HTTPValidatorCache) -> SourceOutcome {
        SourceOutcome(pages: memory.pages.count, items: memory.items, skipped: memory.skipped)
    }
}

extension SyncJob {
    /// How often one page is asked for.
    private static let pageAttempts = 3

    private struct Reading {
        var pages: [HTTPValidatorCache.Page] = []
        var progress = SourceProgress()
    }

    /// Reads all pages, one after the other; nil where the first is what it was.
    private func readAll(_ stage: SyncStaging, ifChangedSince known: HTTPValidatorCache.Page?) async throws -> Reading? {
        var reading = Reading()
        var seen: Set<FetchURL> = []
        var url: FetchURL? = source.url
        while let current = url {
            let number = reading.pages.count + 1
            guard number <= source.pageLimit else {
                throw SourceError.tooMuch("the list has more than \(source.pageLimit) pages; max-pages allows more")
            }
            guard seen.insert(current).inserted else { throw SourceError.circle(page: number - 1) }
            let bytes = source.byteLimit - reading.progress.bytes
            let fetch = try await open(current, unless: number == 1 ? known : nil, bytes: bytes)
            defer { fetch.cancel() }
            guard let head = try await head(of: fetch, page: number, mayBeUnchanged: known != nil && number == 1) else { return nil }
            try await stage.beginPage()
            while let bytes = try await next(of: fetch, page: number) {
                reading.progress = try await stage.append(bytes)
                onProgress(reading.progress)
            }
            let end = try await stage.endPage()
            reading.progress = end.progress
            onProgress(reading.progress)
            reading.pages.append(page(current, head, end.digest))
            do throws(FetchError) {
                url = try source.next.following(head, cursor: end.cursor, first: source.url)
            } catch {
                throw SourceError.fetch(error, page: number + 1, refusal: nil)
            }
        }
        return reading
    }

    /// Whether pages are what they were when they were read: by their validators, or where they have none, by their bodies.
    private func areUnchanged(_ pages: some Sequence<HTTPValidatorCache.Page>, from first: Int) async throws -> Bool {
        for (number, page) in zip(first..., pages) {
            var progress = SourceProgress()
            progress.phase = .verifying
            progress.pages = number
            onProgress(progress)
            let fetch = try await open(page.url, unless: page, bytes: source.byteLimit)
            defer { fetch.cancel() }
            guard try await head(of: fetch, page: number, mayBeUnchanged: page.hasValidator) != nil else { continue }
            var hash = SHA256()
            while let bytes = try await next(of: fetch, page: number) { hash.update(data: bytes) }
            guard Array(hash.finalize()) == page.digest else { return false }
        }
        return true
    }

    private func page(_ url: FetchURL, _ head: FetchHead, _ digest: [UInt8]) -> HTTPValidatorCache.Page {
        HTTPValidatorCache.Page(
            url: url, entityTag: head.headers["etag"], lastModified: OriginDates.strongModification(head.headers, now: time(nil)),
            digest: digest)
    }

    /// Asks for a page, and once or twice more where the origin is out of order: of many pages one may well meet a bad moment.
    private func open(_ url: FetchURL, unless known: HTTPValidatorCache.Page?, bytes: Int) async throws -> PageFetch {
        var fetch = fetch(url, unless: known, bytes: bytes)
        for attempt in 1..<Self.pageAttempts {
            guard await isOutOfOrder(fetch) else { break }
            fetch.cancel()
            try await Task.sleep(for: .milliseconds(200 << attempt) * Double.random(in: 0.5...1))
            fetch = self.fetch(url, unless: known, bytes: bytes)
        }
        return fetch
    }

    /// Whether the answer is one that another attempt may better. Where the origin says when to come again, it is not at once.
    private func isOutOfOrder(_ fetch: PageFetch) async -> Bool {
        do {
            let head = try await fetch.head()
            return [500, 502, 503, 504].contains(head.status) && head.headers["retry-after"] == nil
        } catch {
            return (error as? FetchError)?.isWorthRetrying ?? false
        }
    }

    private func fetch(_ url: FetchURL, unless known: HTTPValidatorCache.Page?, bytes: Int) -> PageFetch {
        var headers: FetchHeaderFields = FetchHeaderFields(["Accept": "application/json", "User-Agent": "intertwine"])
        if let known {
            if let tag = known.entityTag { headers.append("If-None-Match", tag) }
            if let time = known.lastModified { headers.append("If-Modified-Since", time) }
        }
        var request = FetchRequest(url, headers: headers)
        // What is configured for the source is for its own origin, wherever a page says that the next one is.
        if url.hasSameOrigin(as: source.url) { request.credentials = source.headers }
        request.acceptsCompression = true
        request.limits.resolve = .seconds(5)
        request.limits.connect = .seconds(10)
        request.limits.head = min(source.deadline, .seconds(60))
        request.limits.total = source.deadline
        request.limits.slowBytesPerSecond = 128
        request.limits.slowSeconds = 20
        request.limits.bodyBytes = max(0, bytes)
        return PageFetch(request, on: transfers)
    }

    /// Nil where the page was asked for on a condition and is what it was.
    private func head(of fetch: PageFetch, page: Int, mayBeUnchanged: Bool) async throws -> FetchHead? {
        let head: FetchHead
        do {
            head = try await fetch.head()
        } catch let failure as FetchError {
            throw self.failure(failure, of: fetch, page: page)
        }
        switch head.status {
        case 200: return head
        case 304 where mayBeUnchanged: return nil
        default:
            let pause = head.headers["retry-after"].flatMap { OriginDates.pause($0, now: time(nil)) }
            throw SourceError.status(head.status, page: page, retryAfter: pause)
        }
    }

    private func next(of fetch: PageFetch, page: Int) async throws -> [UInt8]? {
        do {
            return try await fetch.next()
        } catch let failure as FetchError {
            throw self.failure(failure, of: fetch, page: page)
        }
    }

    private func failure(_ failure: FetchError, of fetch: PageFetch, page: Int) -> SourceError {
        if failure == .bodyTooLarge { return .tooMuch("the list has more than \(source.byteLimit) bytes; max-bytes allows more") }
        var refusal = fetch.refusal
        if let url = refusal?.url, url != fetch.url { refusal?.origin = fetch.url }
        return .fetch(failure, page: page, refusal: refusal)
    }
}

/// What a synchronisation did.
public struct SourceOutcome: Sendable, Hashable {
    /// Nil where the source said, or its pages showed, that nothing is new.
    public var changes: SourceChanges?
    public var pages: Int
    /// Good items of the snapshot.
    public var items: Int
    public var skipped: Int
    public var bytes: Int

    public init(changes: SourceChanges? = nil, pages: Int = 0, items: Int = 0, skipped: Int = 0, bytes: Int = 0) {
        self.changes = changes
        self.pages = pages
        self.items = items
        self.skipped = skipped
        self.bytes = bytes
    }
}

/// What an origin's fields say about time.
enum OriginDates {
    /// `Last-Modified`, where it tells one version from another for sure (RFC 9110 §8.8.2.2): it was a second old by the origin's own clock.
    /// What changes twice within a second has the same date both times.
    ///
    /// - Parameter now: seconds since 1970-01-01 UTC.
    static func strongModification(_ headers: FetchHeaderFields, now: Int) -> String? {
        guard let field = headers["last-modified"], let modified = HTTPDate.parse(field, now: Int64(now)),
            let date = headers["date"].flatMap({ HTTPDate.parse($0, now: Int64(now)) }), date - modified >= 1
        else { return nil }
        return field
    }

    /// `Retry-After` (RFC 9110 §10.2.3): how long to wait; nil for what is neither a number of seconds nor a date.
    ///
    /// - Parameter now: seconds since 1970-01-01 UTC.
    static func pause(_ field: String, now: Int) -> Duration? {
        if (1...10).contains(field.utf8.count), field.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return Int64(field).map { .seconds($0) }
        }
        return HTTPDate.parse(field, now: Int64(now)).map { .seconds(max(0, $0 - Int64(now))) }
    }
}
