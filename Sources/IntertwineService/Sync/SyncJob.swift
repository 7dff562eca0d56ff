internal import Glibc
internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineImages
internal import IntertwinePrimitives
package import IntertwineStorage

struct SyncJob: Sendable {
    private let source: RemoteSource
    private let transfers: CurlClient
    private let location: any ItemLocation
    private let report: @Sendable (BadSourceItem) -> Void
    private let onProgress: @Sendable (SourceProgress) -> Void
    private let version: @Sendable () -> StoreVersion?

    init(
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

    func run(_ memory: inout HTTPValidatorCache) async throws -> SourceOutcome {
        do {
            let outcome = try await synchronise(&memory)
            SourceRecord(of: outcome).save(source.name, nextTo: location.companions)
            return outcome
        } catch let error as SnapshotRejection {
            throw SourceError.refused(error)
        } catch let error as StoreError {
            throw SourceError.store(error)
        }
    }

    private func synchronise(_ memory: inout HTTPValidatorCache) async throws -> SourceOutcome {
        let stage = SyncStaging(source, into: location, report: report)
        do {
            let mayAsk = !memory.pages.isEmpty && memory.pages.allSatisfy(\.hasValidator)
            var reading = try await readAll(stage, ifChangedSince: mayAsk ? memory.pages.first : nil, &memory)
            if reading == nil {
                // The first page is unchanged; the others must be unchanged too.
                if try await areUnchanged(memory.pages.dropFirst(), from: 2), try await isInStep(stage, &memory) {
                    await stage.discard()
                    return unchanged(memory)
                }
                reading = try await readAll(stage, ifChangedSince: nil, &memory)
            }
            guard let read = reading else { throw SourceError.status(304, page: 1, retryAfter: nil) }
            let isKnown = !memory.pages.isEmpty && memory.pages.map(\.digest) == read.pages.map(\.digest)
            var outcome = SourceOutcome(
                pages: read.pages.count, items: read.progress.items, skipped: read.progress.skipped, bytes: read.progress.bytes)
            (outcome.omittedValues, outcome.invalid) = (read.progress.omittedValues, read.progress.invalid)
            if isKnown, try await isInStep(stage, &memory) {
                await stage.discard()
            } else {
                outcome.changes = try await stage.apply(onProgress)
            }
            (memory.pages, memory.missingPage) = (read.pages, nil)
            memory.items = read.progress.items
            memory.skipped = read.progress.skipped
            (memory.omittedValues, memory.invalid) = (outcome.omittedValues, outcome.invalid)
            return outcome
        } catch {
            await stage.discard()
            try Task.checkCancellation()
            throw error
        }
    }

    private func isInStep(_ stage: SyncStaging, _ memory: inout HTTPValidatorCache) async throws -> Bool {
        // The version is read first, so that writes during the comparison are checked the next time.
        let version = version()
        if let version, version == memory.version { return true }
        guard try await stage.isInStep() else { return false }
        memory.version = version
        return true
    }

    private func unchanged(_ memory: HTTPValidatorCache) -> SourceOutcome {
        var outcome = SourceOutcome(pages: memory.pages.count, items: memory.items, skipped: memory.skipped)
        (outcome.omittedValues, outcome.invalid) = (memory.omittedValues, memory.invalid)
        return outcome
    }
}

extension SyncJob {
    private static let pageAttempts = 3
    /// The answers of APIs to a number beyond the last page, if the list does not tell how many pages it has.
    private static let endStatuses = [204, 400, 404, 410, 416, 422]
    /// The answers of APIs to a link or a cursor beyond the last page. Other ones may tell that a cursor has expired.
    private static let uncountedEndStatuses = [204, 404]

    private struct Reading {
        var pages: [HTTPValidatorCache.Page] = []
        var progress = SourceProgress()
    }

    private func readAll(
        _ stage: SyncStaging, ifChangedSince known: HTTPValidatorCache.Page?, _ memory: inout HTTPValidatorCache
    ) async throws -> Reading? {
        var reading = Reading()
        var seen: Set<FetchURL> = []
        var elements = 0
        var (isCountKnown, isAskedAgain) = (true, false)
        var url: FetchURL? = source.url
        while let current = url {
            let number = reading.pages.count + 1
            guard number <= source.pageLimit else {
                throw SourceError.tooMuch("the list has more than \(source.pageLimit) pages; max-pages allows more")
            }
            guard seen.insert(current).inserted || isAskedAgain else { throw SourceError.circle(page: number - 1) }
            let bytes = source.byteLimit - reading.progress.bytes
            let fetch = try await open(current, unless: number == 1 ? known : nil, bytes: bytes)
            defer { fetch.cancel() }
            var found: (head: FetchHead, digest: [UInt8], cursor: String?, elements: Int)?
            do {
                guard let head = try await self.head(of: fetch, page: number, mayBeUnchanged: known != nil && number == 1) else {
                    return nil
                }
                try await stage.beginPage()
                while let bytes = try await next(of: fetch, page: number) {
                    reading.progress = try await stage.append(bytes)
                    onProgress(reading.progress)
                }
                let end = try await stage.endPage(of: head)
                reading.progress = end.progress
                onProgress(reading.progress)
                if !end.digest.isEmpty { found = (head, end.digest, end.cursor, end.elements) }
            } catch SourceError.status(let status, _, _) where number > 1 && mayEnd(by: status, isCountKnown) {}
            if source.next.isCounted, number > 1, isCountKnown, found?.elements ?? 0 == 0 {
                throw SourceError.missing(page: number, isCounted: true)
            }
            guard let (head, digest, cursor, count) = found else {
                // Why twice: such an answer may be that of a proxy while the API starts, and everything after this page would be removed.
                if !isAskedAgain {
                    isAskedAgain = true
                    try await Task.sleep(for: Self.pause(after: 1))
                    continue
                }
                guard number > memory.pages.count(where: { !$0.digest.isEmpty }) || memory.missingPage == number else {
                    memory.missingPage = number
                    throw SourceError.missing(page: number, isCounted: false)
                }
                reading.pages.append(HTTPValidatorCache.Page(url: current, digest: []))
                return reading
            }
            isAskedAgain = false
            elements += count
            let isOther = reading.pages.last?.digest != digest
            reading.pages.append(page(current, head, digest))
            let read = NextPage.Progress(pages: number, elements: elements, isEnd: count == 0)
            isCountKnown = !source.next.isCounted || source.next.count(cursor, after: read) != nil
            do throws(FetchError) {
                url = try source.next.following(head, cursor: cursor, first: source.url, after: read)
            } catch {
                throw SourceError.fetch(error, page: number + 1, refusal: nil)
            }
            // A last page may name itself, or repeat its cursor. An API that ignores the cursor repeats the page before, too.
            if url == current, !source.next.isCounted, isOther { url = nil }
        }
        return reading
    }

    private func mayEnd(by status: Int, _ isCountKnown: Bool) -> Bool {
        guard source.next.isCounted else { return Self.uncountedEndStatuses.contains(status) }
        return !isCountKnown && Self.endStatuses.contains(status)
    }

    private func areUnchanged(_ pages: some Sequence<HTTPValidatorCache.Page>, from first: Int) async throws -> Bool {
        for (number, page) in zip(first..., pages) {
            let fetch = try await open(page.url, unless: page, bytes: source.byteLimit)
            defer { fetch.cancel() }
            guard try await head(of: fetch, page: number, mayBeUnchanged: true) == nil else { return false }
        }
        return true
    }

    private func page(_ url: FetchURL, _ head: FetchHead, _ digest: [UInt8]) -> HTTPValidatorCache.Page {
        HTTPValidatorCache.Page(
            url: url, entityTag: head.headers[.eTag], lastModified: head.headers.strongModification(now: Int64(time(nil))),
            digest: digest)
    }

    private func open(_ url: FetchURL, unless known: HTTPValidatorCache.Page?, bytes: Int) async throws -> FetchStream {
        var fetch = fetch(url, unless: known, bytes: bytes)
        for attempt in 1..<Self.pageAttempts {
            guard await isOutOfOrder(fetch) else { break }
            fetch.cancel()
            try await Task.sleep(for: Self.pause(after: attempt))
            fetch = self.fetch(url, unless: known, bytes: bytes)
        }
        return fetch
    }

    private static func pause(after attempt: Int) -> Duration { .milliseconds(200 << attempt) * Double.random(in: 0.5...1) }

    private func isOutOfOrder(_ fetch: FetchStream) async -> Bool {
        do throws(FetchError) {
            let head = try await fetch.head()
            return [500, 502, 503, 504].contains(head.status) && head.headers[.retryAfter] == nil
        } catch {
            return error.isWorthRetrying
        }
    }

    private func fetch(_ url: FetchURL, unless known: HTTPValidatorCache.Page?, bytes: Int) -> FetchStream {
        var headers: HTTPFields = [.accept: "application/json"]
        headers[.ifNoneMatch] = known?.entityTag
        headers[.ifModifiedSince] = known?.lastModified
        var request = FetchRequest(url, headers: headers)
        // Configured header fields go to the source's own origin only, also if a page names another origin for the next one.
        if url.hasSameOrigin(as: source.url) { request.credentials = source.headers }
        request.acceptsCompression = true
        request.limits.resolve = .seconds(5)
        request.limits.connect = .seconds(10)
        request.limits.head = min(source.deadline, .seconds(60))
        request.limits.total = source.deadline
        request.limits.slowBytesPerSecond = 128
        request.limits.slowSeconds = 20
        request.limits.bodyBytes = max(0, bytes)
        // The bodies of other responses are not read.
        return transfers.open(request) { $0.isWholePage || $0.status == 304 }
    }

    private func head(of fetch: FetchStream, page: Int, mayBeUnchanged: Bool) async throws -> FetchHead? {
        let head: FetchHead
        do throws(FetchError) {
            head = try await fetch.head()
        } catch {
            throw failure(error, of: fetch, page: page)
        }
        switch head.status {
        case _ where head.isWholePage: return head
        case 304 where mayBeUnchanged: return nil
        default:
            let pause = head.headers[.retryAfter].flatMap { HTTPDate.delay(retryAfter: $0, now: Int64(time(nil))) }
            throw SourceError.status(head.status, page: page, retryAfter: pause.map { .seconds($0) })
        }
    }

    private func next(of fetch: FetchStream, page: Int) async throws -> [UInt8]? {
        do throws(FetchError) {
            return try await fetch.next()
        } catch {
            throw failure(error, of: fetch, page: page)
        }
    }

    private func failure(_ failure: FetchError, of fetch: FetchStream, page: Int) -> SourceError {
        if failure == .bodyTooLarge { return .tooMuch("the list has more than \(source.byteLimit) bytes; max-bytes allows more") }
        var refusal = fetch.refusal
        if let url = refusal?.url, url != fetch.url { refusal?.origin = fetch.url }
        return .fetch(failure, page: page, refusal: refusal)
    }
}

package struct SourceOutcome: Sendable, Hashable {
    package var changes: SourceChanges?
    package var pages: Int
    package var items: Int
    package var skipped: Int
    package var omittedValues = 0
    package var invalid: [String] = []
    package var bytes: Int

    package init(changes: SourceChanges? = nil, pages: Int = 0, items: Int = 0, skipped: Int = 0, bytes: Int = 0) {
        self.changes = changes
        self.pages = pages
        self.items = items
        self.skipped = skipped
        self.bytes = bytes
    }
}

extension HTTPFields {
    /// Returns `Last-Modified` if it is a strong validator (RFC 9110 §8.8.2.2): at least one second old by the origin's own clock.
    func strongModification(now: Int64) -> String? {
        guard let field = self[.lastModified], let modified = HTTPDate.parse(field, now: now),
            let date = self[.date].flatMap({ HTTPDate.parse($0, now: now) }), date - modified >= 1
        else { return nil }
        return field
    }
}
