internal import Dispatch
internal import Glibc
internal import IntertwineEventLoop
internal import Synchronization

/// Names to addresses, on threads of its own.
///
/// libcurl's resolver starts a thread for each lookup and joins it when the transfer goes away: a cancelled transfer would
/// then block its loop for as long as the name server is silent. Here lookups for one name are shared, the threads are
/// bounded in number and end when idle, and who does not want to wait any more simply leaves.
public final class Resolver: Sendable {
    /// Blocks until it knows the addresses of a host; called on a thread of the resolver's own.
    public typealias Lookup = @Sendable (_ host: String) -> Result<[IPAddress], FetchError>
    typealias Resolution = Result<[IPAddress], FetchError>

    public struct Configuration: Sendable {
        public var threads = 16
        /// A lookup that takes longer is stuck: its thread is no longer one of the ``threads``, so that others get theirs.
        public var stuckAfter: Duration = .milliseconds(200)
        /// Threads with the stuck ones. A silent name server keeps one for each name that it was asked for, some ten seconds long.
        public var mostThreads = 256
        /// Names that wait for a thread; one more is refused with `resolveFailed`.
        public var queue = 1_024
        public var positive: Duration = .seconds(60)
        public var negative: Duration = .seconds(5)
        /// Names remembered.
        public var remembered = 10_000

        public init() {}
    }

    /// One who waits for a name.
    struct LookupHandle: Hashable, Sendable {
        let host: String
        let number: UInt64
    }

    private struct State: Sendable {
        var cache: [String: (answer: Resolution, until: MonotonicInstant)] = [:]
        var waiting: [String: [(number: UInt64, call: @Sendable (Resolution) -> Void)]] = [:]
        var queue: [String] = []
        var threads = 0
        /// Somebody looks after the patience whether threads have got stuck.
        var isWatched = false
        /// When each lookup under way was begun.
        var begun: [String: MonotonicInstant] = [:]
        var next: UInt64 = 0
    }

    private let lookup: Lookup
    private let configuration: Configuration
    private let state = Mutex(State())
    /// Room for getaddrinfo and the modules it loads, and no more: there may be many threads.
    private static let stackBytes = 256 * 1_024

    private let watcher = DispatchQueue(label: "intertwine.resolver")

    public init(configuration: Configuration = Configuration(), lookup: @escaping Lookup = SystemLookup.addresses) {
        self.configuration = configuration
        self.lookup = lookup
    }

    /// Whether a name's addresses, or that it has none, are remembered.
    func knows(_ host: String) -> Bool {
        state.withLock { $0.cache[host].map { MonotonicInstant.now() < $0.until } ?? false }
    }

    /// Threads that look names up right now.
    public var busyThreads: Int { state.withLock { $0.threads } }

    /// Calls back once: at once where the name is remembered, else on a thread of the resolver. Nil where it called at once.
    func resolve(_ host: String, then call: @escaping @Sendable (Resolution) -> Void) -> LookupHandle? {
        enum Step { case now(Resolution), wait(LookupHandle, spawn: Bool, watch: Bool) }
        let now = MonotonicInstant.now()
        let step = state.withLock { state -> Step in
            if let known = state.cache[host], now < known.until { return .now(known.answer) }
            let isFirst = state.waiting[host] == nil
            if isFirst, state.queue.count >= configuration.queue { return .now(.failure(.resolveFailed)) }
            state.next &+= 1
            state.waiting[host, default: []].append((state.next, call))
            let ticket = LookupHandle(host: host, number: state.next)
            guard isFirst else { return .wait(ticket, spawn: false, watch: false) }
            state.queue.append(host)
            let spawn = acquireThread(&state, now)
            return .wait(ticket, spawn: spawn, watch: !spawn && mustWatch(&state))
        }
        switch step {
        case .now(let answer):
            call(answer)
            return nil
        case .wait(let ticket, let spawn, let watch):
            if spawn { startThread() }
            if watch { self.watch() }
            return ticket
        }
    }

    /// Whether nobody looks yet whether the threads that others wait for have got stuck.
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
            // Each of them takes one name.
            while spawns < state.queue.count, acquireThread(&state, .now()) { spawns += 1 }
            return (spawns, spawns < state.queue.count && mustWatch(&state))
        }
        for _ in 0..<spawns { startThread() }
        if watch { self.watch() }
    }

    /// Whether one more thread may work; it then counts.
    private func acquireThread(_ state: inout State, _ now: MonotonicInstant) -> Bool {
        guard !state.queue.isEmpty, state.threads < configuration.mostThreads, hasRoom(for: 1, state, now) else { return false }
        state.threads += 1
        return true
    }

    private func hasRoom(for more: Int, _ state: State, _ now: MonotonicInstant) -> Bool {
        let stuck = state.begun.values.count { now.since($0) >= configuration.stuckAfter }
        return state.threads - stuck + more <= configuration.threads
    }

    private func startThread() {
        if !DetachedThread.start(stackBytes: Self.stackBytes, { self.work() }) { threadMissing() }
    }

    /// Forgets one who waits. A lookup that nobody waits for any more is not begun; one that was begun goes on by itself.
    /// - Returns: whether the lookup was still to be begun.
    @discardableResult
    func cancel(_ ticket: LookupHandle) -> Bool {
        let (wasQueued, spawn) = state.withLock { state in
            state.waiting[ticket.host]?.removeAll { $0.number == ticket.number }
            let place = state.queue.firstIndex(of: ticket.host)
            if let place, state.waiting[ticket.host]?.isEmpty == true {
                state.queue.remove(at: place)
                state.waiting[ticket.host] = nil
            }
            return (place != nil, acquireThread(&state, .now()))
        }
        if spawn { startThread() }
        return wasQueued
    }

    private func work() {
        while let host = nextHost() {
            let answer = lookup(host)
            for call in complete(host, answer) {
                call(answer)
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
            // The newest: somebody still waits for it, and those before it may be stuck for good.
            let host = state.queue.removeLast()
            state.begun[host] = now
            return host
        }
    }

    private func complete(_ host: String, _ answer: Resolution) -> [@Sendable (Resolution) -> Void] {
        let now = MonotonicInstant.now()
        return state.withLock { state in
            if state.cache.count >= configuration.remembered {
                state.cache = state.cache.filter { now < $0.value.until }
                if state.cache.count >= configuration.remembered {
                    for host in Array(state.cache.keys.prefix(max(1, configuration.remembered / 10))) { state.cache[host] = nil }
                }
            }
            state.begun[host] = nil
            let isGood = (try? answer.get())?.isEmpty == false
            state.cache[host] = (answer, now.advanced(by: isGood ? configuration.positive : configuration.negative))
            return state.waiting.removeValue(forKey: host)?.map(\.call) ?? []
        }
    }

    /// The process has no thread left: what waits is refused, since nobody would ever serve it.
    private func threadMissing() {
        let waiting = state.withLock { state in
            state.threads -= 1
            guard state.threads == 0 else { return [@Sendable (Resolution) -> Void]() }
            defer { state.queue = [] }
            return state.queue.flatMap { state.waiting.removeValue(forKey: $0)?.map(\.call) ?? [] }
        }
        for call in waiting {
            call(.failure(.resolveFailed))
        }
    }
}

/// The system's resolver: hosts file, DNS, whatever nsswitch.conf says.
public enum SystemLookup {
    /// Blocks. Fails with nothing but `hostNotFound` and `resolveFailed`.
    @Sendable
    public static func addresses(of host: String) -> Result<[IPAddress], FetchError> {
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
