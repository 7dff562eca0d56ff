internal import Fetch

/// How long an answer may be used: RFC 9111 as a shared cache, and RFC 5861.
public struct Freshness: Sendable, Hashable {
    /// Seconds since 1970 at which the answer was made, by its `Date` and `Age`.
    public var born: Int64
    /// Seconds since 1970 until which it is fresh.
    public var freshUntil: Int64
    /// Until then it may be served stale while it is being fetched anew.
    public var staleWhileRevalidateUntil: Int64
    /// Until then it may be served stale where the origin fails.
    public var staleIfErrorUntil: Int64

    /// An answer made well after `now` came while the clock was ahead: what it says about its end is worth nothing.
    public func isFresh(at now: Int64) -> Bool { now < freshUntil && now >= born - 86_400 }

    public func age(at now: Int64) -> Int64 { max(0, now - born) }

    /// Nil where the answer must not be stored at all.
    /// - Parameters:
    ///   - asked: seconds since 1970 when the request left.
    ///   - received: and when the answer's head had come.
    init?(status: Int, headers: FetchHeaders, asked: Int64, received: Int64, policy: FreshnessPolicy) {
        let control = CacheControl(headers["cache-control"])
        guard status == 200 || status == 304, !control.has("no-store"), !control.has("private"), Self.variesOnlyByUs(headers["vary"]) else {
            return nil
        }
        let date = headers["date"].flatMap(HTTPDate.parse) ?? received
        let apparent = max(0, received - date)
        let told = headers["age"].flatMap { Int64($0.prefix { $0 != "," }.trimmingBlanks) } ?? 0
        let age = max(apparent, min(max(0, told), 1 << 31) + max(0, received - asked))
        born = received - age

        let mustAsk = control.has("no-cache")
        let declared = control.seconds("s-maxage") ?? control.seconds("max-age")
        let explicit = declared ?? Self.expires(headers, date: date)
        // Zero for shared caches forbids stale use too (section 5.2.2.10).
        let forbidsStale =
            mustAsk || control.has("must-revalidate") || control.has("proxy-revalidate") || control.seconds("s-maxage") == 0
        // Who says that it must not be used without asking means it.
        let shortest = forbidsStale || explicit == 0 ? 0 : policy.shortest
        let lifetime: Int64
        if mustAsk {
            lifetime = 0
        } else if let explicit {
            lifetime = min(max(explicit, shortest), policy.longest)
        } else if let modified = headers["last-modified"].flatMap(HTTPDate.parse), modified < date {
            lifetime = min(max((date - modified) / 10, shortest), policy.heuristic)
        } else {
            lifetime = policy.silent
        }
        // A lifetime that the policy lengthened counts from now: an old answer would otherwise be stale on arrival, each time.
        freshUntil = mustAsk ? received : max(born + lifetime, received + min(lifetime, shortest))
        let silently = explicit == 0 ? 0 : policy.staleWhileRevalidate
        let whileRevalidating = forbidsStale ? 0 : control.seconds("stale-while-revalidate") ?? silently
        let ifError = forbidsStale ? 0 : control.seconds("stale-if-error") ?? policy.staleIfError
        staleWhileRevalidateUntil = freshUntil + whileRevalidating
        staleIfErrorUntil = freshUntil + ifError
    }

    /// The same for the end of a chain of redirects: who may not use one of them any longer does not get there.
    /// - Parameter headers: the answer's own, or what they are together with those of the answer that it confirms.
    init?(_ head: FetchHead, _ headers: FetchHeaders, asked: Int64, received: Int64, policy: FreshnessPolicy) {
        self.init(status: head.status, headers: headers, asked: asked, received: received, policy: policy)
        for redirect in head.redirects {
            var policy = policy
            // A temporary one that says nothing holds for this once (RFC 9110 section 15.4.3), or for as long as all do; a permanent one for good.
            let isPermanent = redirect.status == 301 || redirect.status == 308
            policy.silent = isPermanent ? policy.longest : policy.shortest
            policy.heuristic = policy.silent
            guard let bound = Freshness(status: 200, headers: redirect.headers, asked: asked, received: received, policy: policy) else {
                return nil
            }
            freshUntil = min(freshUntil, bound.freshUntil)
            staleWhileRevalidateUntil = min(staleWhileRevalidateUntil, bound.staleWhileRevalidateUntil)
            staleIfErrorUntil = min(staleIfErrorUntil, bound.staleIfErrorUntil)
        }
    }

    /// Already stale, and of no use as such: each request asks the origin.
    init(now: Int64) {
        self.init(born: now, freshUntil: now, staleWhileRevalidateUntil: now, staleIfErrorUntil: now)
    }

    init(born: Int64, freshUntil: Int64, staleWhileRevalidateUntil: Int64, staleIfErrorUntil: Int64) {
        self.born = born
        self.freshUntil = freshUntil
        self.staleWhileRevalidateUntil = staleWhileRevalidateUntil
        self.staleIfErrorUntil = staleIfErrorUntil
    }

    private static func expires(_ headers: FetchHeaders, date: Int64) -> Int64? {
        // An invalid date, "0" above all, means expired (section 5.3).
        headers["expires"].map { max(0, (HTTPDate.parse($0) ?? date) - date) }
    }

    /// The fields that we send the same way each time, or never. An answer that varies by anything else was made for somebody.
    private static func variesOnlyByUs(_ field: String?) -> Bool {
        guard let field else { return true }
        let constant: Set = ["accept", "accept-encoding", "accept-language", "user-agent", "origin", "via"]
        return field.split(separator: ",").allSatisfy { constant.contains($0.trimmingBlanks.lowercased()) }
    }
}
