public import Foundation

/// A reporter of impressions, which sends each served impression once, in batches.
///
/// Call `record(visible:)` at each scroll and layout with the visible cells. Call it with an empty array if a dialog covers the list or the app is left.
///
/// ```swift
/// let impressions = Impressions(client: client)
/// await impressions.record(visible: [Impressions.VisibleCell(cell, share: 0.8)])
/// ```
public actor Impressions {
    /// A cell on the screen, with its visible fraction.
    public struct VisibleCell: Sendable {
        /// The visible cell.
        public let cell: FeedCell
        /// The visible fraction of the cell, from 0 to 1.
        public let share: Double
        /// True if the pictures of the cell are on the screen. Other cells are not seen.
        public let isLoaded: Bool

        /// Creates a visible cell.
        public init(_ cell: FeedCell, share: Double, isLoaded: Bool = true) {
            self.cell = cell
            self.share = share
            self.isLoaded = isLoaded
        }
    }

    /// The maximum number of impressions in one request; the server accepts 500.
    private static let batchSize = 100
    /// The maximum number of impressions queued for an unavailable server. Beyond it, the oldest are dropped.
    private static let maxPending = 1000
    /// The maximum number of remembered impressions, which are not reported again.
    private static let maxReported = 10_000

    private struct Batch {
        let key = UUID().uuidString
        let href: String
        var events: [JSONValue]
        var isSent = false
    }

    private let client: FeedClient
    private let batchDelay: Double
    private let now: @Sendable () -> Double
    private let sleep: @Sendable (Double) async throws -> Void
    private var meter = ViewabilityMeter()
    private var visibleActions: [String: CellAction] = [:]
    private var reported: Set<String> = []
    private var reportedBefore: Set<String> = []
    private var batches: [Batch] = []
    private var timer: Task<Void, Never>?
    private var flushing: Task<Void, Never>?
    private var sending: Task<Void, Never>?
    /// The number of failures since the last success, and the delay that the server requested with the last one.
    private var failures = (count: 0, retryAfter: Double?.none)

    /// Creates a reporter.
    ///
    /// - Parameters:
    ///   - batchDelay: The delay in seconds during which impressions are collected into a batch.
    ///   - now: Returns the seconds of a monotonic clock.
    public init(
        client: FeedClient, batchDelay: Double = 2, now: @escaping @Sendable () -> Double = { ProcessInfo.processInfo.systemUptime },
        sleep: @escaping @Sendable (Double) async throws -> Void = { try await Task.sleep(for: .seconds($0)) }
    ) {
        self.client = client
        self.batchDelay = batchDelay
        self.now = now
        self.sleep = sleep
    }

    /// Sets the visible cells; all other cells are invisible from now on.
    ///
    /// ```swift
    /// let visible = shares.map { Impressions.VisibleCell($0.cell, share: $0.share) }
    /// await impressions.record(visible: visible)
    /// await impressions.record(visible: [])  // A dialog covers the list.
    /// ```
    public func record(visible cells: [VisibleCell]) {
        // Impressions that completed since the last check count, even if their cells are invisible now.
        takeCompleted()
        var shares: [String: (share: Double, needs: Viewability)] = [:]
        visibleActions = [:]
        for visible in cells where visible.isLoaded {
            guard let action = visible.cell.actions[.impression], case .request(_, let href, let body?) = action.kind,
                body["events"]?.array != nil, let data = try? body.encoded()
            else { continue }
            // An ad that is in the list twice has two tokens.
            let key = href + "\n" + String(decoding: data, as: UTF8.self)
            guard !reported.contains(key), !reportedBefore.contains(key) else { continue }
            shares[key] = (max(visible.share, shares[key]?.share ?? 0), Viewability(action))
            visibleActions[key] = action
        }
        meter.update(shares, at: now())
        takeCompleted()
        scheduleTimer()
    }

    /// Sends the collected impressions, for example when the app is left.
    public func flush() async {
        flushing?.cancel()
        flushing = nil
        if let sending { return await sending.value }
        let task = Task { await self.sendAll() }
        sending = task
        await task.value
        sending = nil
        if !batches.isEmpty {
            flushLater(failures.count == 0 ? batchDelay : failures.retryAfter ?? client.retry.backoff(after: failures.count))
        }
    }

    private func flushLater(_ delay: Double) {
        guard flushing == nil else { return }
        flushing = Task { [weak self, sleep] in
            guard (try? await sleep(delay)) != nil, !Task.isCancelled else { return }
            await self?.flush()
        }
    }

    /// The number of queued impressions.
    public var pendingCount: Int { batches.reduce(0) { $0 + $1.events.count } }

    private func scheduleTimer() {
        timer?.cancel()
        guard let next = meter.nextDeadline else { return }
        let delay = max(0, next - now())
        timer = Task {
            guard (try? await sleep(delay)) != nil, !Task.isCancelled else { return }
            takeCompleted()
            scheduleTimer()
        }
    }

    private func takeCompleted() {
        for key in meter.takeCompleted(at: now()) {
            guard case .request(_, let href, let body?) = visibleActions[key]?.kind, let events = body["events"]?.array else { continue }
            reported.insert(key)
            if reported.count >= Self.maxReported / 2 { (reportedBefore, reported) = (reported, []) }
            enqueue(events, href)
        }
    }

    private func enqueue(_ events: [JSONValue], _ href: String) {
        if let last = batches.indices.last(where: { batches[$0].href == href && !batches[$0].isSent }),
            batches[last].events.count + events.count <= Self.batchSize
        {
            batches[last].events += events
        } else {
            batches.append(Batch(href: href, events: events))
        }
        while pendingCount > Self.maxPending, batches.count > 1 { batches.removeFirst() }
        flushLater(batchDelay)
    }

    /// Sends the batches in order. A batch without a response keeps its events and its idempotency key, so that the server counts it once.
    private func sendAll() async {
        while let batch = batches.first {
            batches[0].isSent = true
            do {
                _ = try await client.submit(
                    "POST", batch.href, body: .object(["events": .array(batch.events)]), key: batch.key, answer: "results")
                failures = (0, nil)
            } catch let error as FeedClientError where !error.isRetryable && !error.needsSignIn {
                // The server would refuse the batch again, so it is dropped.
            } catch {
                var retryAfter: Double?
                if case FeedClientError.unavailable(_, let seconds) = error { retryAfter = seconds }
                failures = (failures.count + 1, retryAfter)
                return
            }
            if batches.first?.key == batch.key { batches.removeFirst() }
        }
    }
}
