internal import Dispatch
internal import Glibc
internal import IntertwineHTTPServer
internal import IntertwinePrimitives
internal import Synchronization

/// libcurl's resolver starts a thread for each lookup and joins it when the transfer ends: a cancelled transfer would then block its loop
/// until the name server responds.
package final class Resolver: Sendable {
    package typealias Lookup = @Sendable (_ host: String) -> Result<[IPAddress], FetchError>
    typealias Resolution = Result<[IPAddress], FetchError>

    package struct Configuration: Sendable {
        package var threads = 16
        /// Its thread then no longer counts as one of ``threads``, so that other lookups get one.
        var stuckAfter: Duration = .milliseconds(200)
        var mostThreads = 256
        package var queue = 1_024
        var positive: Duration = .seconds(60)
        package var negative: Duration = .seconds(5)
        package var remembered = 10_000

        package init() {}
    }

    struct LookupHandle: Hashable, Sendable {
        let host: String
        let number: UInt64
    }

    struct State: Sendable {
        var cache: BoundedCache<String, (resolution: Resolution, until: MonotonicInstant)>
        var lookups = RequestCoalescer<String, @Sendable (Resolution) -> Void>()
        var queue: [String] = []
        var threads = 0
        var isWatched = false
        var started: [String: MonotonicInstant] = [:]
        var lastNumber: UInt64 = 0
    }

    private let lookup: Lookup
    private let configuration: Configuration
    let state: Mutex<State>
    /// It is small because there may be many threads.
    private static let stackBytes = 256 * 1_024

    private let watcher = DispatchQueue(label: "intertwine.resolver")

    package init(configuration: Configuration = Configuration(), lookup: @escaping Lookup = SystemLookup.addresses) {
        self.configuration = configuration
        self.lookup = lookup
        state = Mutex(State(cache: BoundedCache(limit: configuration.remembered)))
    }

    func knows(_ host: String) -> Bool {
        state.withLock { $0.cache.peek(host).map { MonotonicInstant.now() < $0.until } ?? false }
    }

    func resolve(_ host: String, then call: @escaping @Sendable (Resolution) -> Void) -> LookupHandle? {
        enum Step { case now(Resolution), wait(LookupHandle, spawn: Bool, watch: Bool) }
        let now = MonotonicInstant.now()
        let step = state.withLock { state -> Step in
            if let known = state.cache[host], now < known.until { return .now(known.resolution) }
            if !state.lookups.isActive(host), state.queue.count >= configuration.queue { return .now(.failure(.resolveFailed)) }
            state.lastNumber &+= 1
            let ticket = LookupHandle(host: host, number: state.lastNumber)
            guard state.lookups.join(host, ticket.number, call) else { return .wait(ticket, spawn: false, watch: false) }
            state.queue.append(host)
            let spawn = acquireThread(&state, now)
            return .wait(ticket, spawn: spawn, watch: !spawn && mustWatch(&state))
        }
        switch step {
        case .now(let resolution):
            call(resolution)
            return nil
        case .wait(let ticket, let spawn, let watch):
            if spawn { startThread() }
            if watch { self.watch() }
            return ticket
        }
    }

    /// The caller must then schedule one.
    private func mustWatch(_ state: inout State) -> Bool {
        guard !state.isWatched, !state.queue.isEmpty, state.threads < configuration.mostThreads else { return false }
        state.isWatched = true
        return true
    }

    private func watch() {
        let (seconds, part) = configuration.stuckAfter.components
        let nanoseconds = Int(clamping: seconds) * 1_000_000_000 + Int(part / 1_000_000_000)
        watcher.asyncAfter(deadline: .now() + .nanoseconds(nanoseconds)) { [weak self] in self?.replaceStuck() }
    }

    private func replaceStuck() {
        let (spawns, watch) = state.withLock { state in
            state.isWatched = false
            var spawns = 0
            // Each thread takes one name.
            while spawns < state.queue.count, acquireThread(&state, .now()) { spawns += 1 }
            return (spawns, spawns < state.queue.count && mustWatch(&state))
        }
        for _ in 0..<spawns { startThread() }
        if watch { self.watch() }
    }

    private func acquireThread(_ state: inout State, _ now: MonotonicInstant) -> Bool {
        guard !state.queue.isEmpty, state.threads < configuration.mostThreads, hasRoom(for: 1, state, now) else { return false }
        state.threads += 1
        return true
    }

    private func hasRoom(for more: Int, _ state: State, _ now: MonotonicInstant) -> Bool {
        let stuck = state.started.values.count { now.since($0) >= configuration.stuckAfter }
        return state.threads - stuck + more <= configuration.threads
    }

    private func startThread() {
        if !DetachedThread.start(stackBytes: Self.stackBytes, { self.work() }) { threadMissing() }
    }

    @discardableResult
    func cancel(_ ticket: LookupHandle) -> Bool {
        let (wasQueued, spawn) = state.withLock { state in
            let isUnused = state.lookups.leave(ticket.host, ticket.number)
            let index = state.queue.firstIndex(of: ticket.host)
            if let index, isUnused {
                state.queue.remove(at: index)
                _ = state.lookups.complete(ticket.host)
            }
            return (index != nil, acquireThread(&state, .now()))
        }
        if spawn { startThread() }
        return wasQueued
    }

    private func work() {
        while let host = nextHost() {
            let resolution = lookup(host)
            for call in complete(host, resolution) {
                call(resolution)
            }
        }
    }

    private func nextHost() -> String? {
        state.withLock { state in
            let now = MonotonicInstant.now()
            if state.queue.isEmpty || !hasRoom(for: 0, state, now) {
                state.threads -= 1
                return nil
            }
            // The newest name is taken: a caller still waits for it, and the earlier ones may be stuck forever.
            let host = state.queue.removeLast()
            state.started[host] = now
            return host
        }
    }

    private func complete(_ host: String, _ resolution: Resolution) -> [@Sendable (Resolution) -> Void] {
        let now = MonotonicInstant.now()
        return state.withLock { state in
            state.started[host] = nil
            let isGood = (try? resolution.get())?.isEmpty == false
            state.cache[host] = (resolution, now.advanced(by: isGood ? configuration.positive : configuration.negative))
            return state.lookups.complete(host)
        }
    }

    /// Refuses all waiting names, because the process has no thread left to look them up.
    private func threadMissing() {
        let waiting = state.withLock { state in
            state.threads -= 1
            guard state.threads == 0 else { return [@Sendable (Resolution) -> Void]() }
            defer { state.queue = [] }
            return state.queue.flatMap { state.lookups.complete($0) }
        }
        for call in waiting {
            call(.failure(.resolveFailed))
        }
    }
}

/// The system's resolver: hosts file, DNS and other sources of nsswitch.conf.
enum SystemLookup {
    @Sendable
    static func addresses(of host: String) -> Result<[IPAddress], FetchError> {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var head: UnsafeMutablePointer<addrinfo>?
        let result = getaddrinfo(host, nil, &hints, &head)
        guard result == 0 else {
            return .failure(result == EAI_NONAME ? .hostNotFound : .resolveFailed)
        }
        defer { freeaddrinfo(head) }
        var found: [IPAddress] = []
        var next = head
        while let entry = next {
            if let address = entry.pointee.ai_addr, let parsed = IPAddress(address, length: Int(entry.pointee.ai_addrlen)),
                !found.contains(parsed)
            {
                found.append(parsed)
            }
            next = entry.pointee.ai_next
        }
        return found.isEmpty ? .failure(.hostNotFound) : .success(found)
    }
}
