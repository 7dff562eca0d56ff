internal import Crypto
internal import Glibc
internal import IntertwineFeed
internal import IntertwineFetch

extension SourceRun {
    /// How often one page is asked for.
    static let pageAttempts = 3

    struct Reading {
        var pages: [SourceMemory.Page] = []
        var progress = SourceProgress()
    }

    /// Reads all pages, one after the other; nil where the first is what it was.
    func readAll(_ stage: SourceStage, ifChangedSince known: SourceMemory.Page?) async throws -> Reading? {
        var reading = Reading()
        var seen: Set<FetchURL> = []
        var url: FetchURL? = source.url
        while let current = url {
            let number = reading.pages.count + 1
            guard number <= source.pageLimit else {
                throw SourceFailure.tooMuch("the list has more than \(source.pageLimit) pages; max-pages allows more")
            }
            guard seen.insert(current).inserted else { throw SourceFailure.circle(page: number - 1) }
            let bytes = source.byteLimit - reading.progress.bytes
            let fetch = try await open(current, unless: number == 1 ? known : nil, bytes: bytes)
            defer { fetch.cancel() }
            guard let head = try await head(of: fetch, page: number, mayBeUnchanged: known != nil && number == 1) else { return nil }
            try await stage.beginPage()
            while let bytes = try await next(of: fetch, page: number) {
                reading.progress = try await stage.take(bytes)
                told(reading.progress)
            }
            let end = try await stage.endPage()
            reading.progress = end.progress
            told(reading.progress)
            reading.pages.append(page(current, head, end.digest))
            do throws(FetchFailure) {
                url = try source.next.following(head, cursor: end.cursor, first: source.url)
            } catch {
                throw SourceFailure.fetch(error, page: number + 1, refusal: nil)
            }
        }
        return reading
    }

    /// Whether pages are what they were when they were read: by their validators, or where they have none, by their bodies.
    func areUnchanged(_ pages: some Sequence<SourceMemory.Page>, from first: Int) async throws -> Bool {
        for (number, page) in zip(first..., pages) {
            var progress = SourceProgress()
            progress.phase = .verifying
            progress.pages = number
            told(progress)
            let fetch = try await open(page.url, unless: page, bytes: source.byteLimit)
            defer { fetch.cancel() }
            guard try await head(of: fetch, page: number, mayBeUnchanged: page.hasValidator) != nil else { continue }
            var hash = SHA256()
            while let bytes = try await next(of: fetch, page: number) { hash.update(data: bytes) }
            guard Array(hash.finalize()) == page.digest else { return false }
        }
        return true
    }

    private func page(_ url: FetchURL, _ head: FetchHead, _ digest: [UInt8]) -> SourceMemory.Page {
        SourceMemory.Page(
            url: url, entityTag: head.headers["etag"], lastModified: OriginDates.strongModification(head.headers, now: time(nil)),
            digest: digest)
    }

    /// Asks for a page, and once or twice more where the origin is out of order: of many pages one may well meet a bad moment.
    private func open(_ url: FetchURL, unless known: SourceMemory.Page?, bytes: Int) async throws -> PageFetch {
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
            return (error as? FetchFailure)?.isWorthRetrying ?? false
        }
    }

    private func fetch(_ url: FetchURL, unless known: SourceMemory.Page?, bytes: Int) -> PageFetch {
        var headers: FetchHeaders = FetchHeaders(["Accept": "application/json", "User-Agent": "intertwine"])
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
        } catch let failure as FetchFailure {
            throw self.failure(failure, of: fetch, page: page)
        }
        switch head.status {
        case 200: return head
        case 304 where mayBeUnchanged: return nil
        default:
            let pause = head.headers["retry-after"].flatMap { OriginDates.pause($0, now: time(nil)) }
            throw SourceFailure.status(head.status, page: page, retryAfter: pause)
        }
    }

    private func next(of fetch: PageFetch, page: Int) async throws -> [UInt8]? {
        do {
            return try await fetch.next()
        } catch let failure as FetchFailure {
            throw self.failure(failure, of: fetch, page: page)
        }
    }

    private func failure(_ failure: FetchFailure, of fetch: PageFetch, page: Int) -> SourceFailure {
        if failure == .bodyTooLarge { return .tooMuch("the list has more than \(source.byteLimit) bytes; max-bytes allows more") }
        var refusal = fetch.refusal
        if let url = refusal?.url, url != fetch.url { refusal?.origin = fetch.url }
        return .fetch(failure, page: page, refusal: refusal)
    }
}
