internal import HTTPTypes
internal import IntertwinePrimitives

/// The freshness of a response according to RFC 9111 (as a shared cache) and RFC 5861.
package struct Freshness: Sendable, Hashable {
    /// The caches that must revalidate a stale response before use (RFC 9111 sections 5.2.2.2 and 5.2.2.8).
    package enum Revalidation: UInt8, Sendable, Hashable, Comparable {
        /// No cache, shared caches (`proxy-revalidate`, `s-maxage`), or all caches (`must-revalidate`, `no-cache`).
        case nobody, shared, everybody

        package static func < (left: Revalidation, right: Revalidation) -> Bool { left.rawValue < right.rawValue }
    }

    /// The time of the response at the origin in seconds since 1970, computed from its `Date` and `Age`.
    var generatedAt: Int64
    /// The time in seconds since 1970 until which the response is fresh for shared caches.
    var freshUntil: Int64
    /// The time in seconds since 1970 until which the response is fresh for private caches, which ignore `s-maxage`.
    var localFreshUntil: Int64
    var staleWhileRevalidateUntil: Int64
    var staleIfErrorUntil: Int64
    /// The caches that must not serve a stale response; by default none.
    package var revalidation = Revalidation.nobody

    package func isFresh(at now: Int64) -> Bool { now < freshUntil && hasCome(by: now) }

    func bridgesRevalidation(at now: Int64) -> Bool { now < staleWhileRevalidateUntil && hasCome(by: now) }

    func bridgesError(at now: Int64) -> Bool { now < staleIfErrorUntil && hasCome(by: now) }

    private func hasCome(by now: Int64) -> Bool { now >= generatedAt - 86_400 }

    /// Returns the age of the response in seconds, at least 0: the value of the `Age` field (RFC 9111 section 5.1).
    package func age(at now: Int64) -> Int64 { max(0, now - generatedAt) }

}

extension Freshness {
    /// Computes the freshness; nil if the response must not be stored.
    init?(status: Int, headers: HTTPFields, asked: Int64, received: Int64, policy: FreshnessPolicy) {
        let control = CacheControl(headers[.cacheControl])
        // The cache understands these statuses, a 206 with all bytes included, which satisfies `must-understand` (section 5.2.2.3).
        let forbidsStoring = control.has("no-store") && !control.has("must-understand")
        let isExplicit = control.has("max-age") || control.has("s-maxage") || headers[.expires] != nil
        let isStorable = [200, 203, 206, 304].contains(status) || [201, 202, 226].contains(status) && isExplicit
        guard isStorable, !forbidsStoring, !control.has("private"), Self.variesOnlyByUs(headers[.vary]) else { return nil }
        let date = headers[.date].flatMap { HTTPDate.parse($0, now: received) } ?? received
        let born = received - max(max(0, received - date), Self.age(headers[.age]) + max(0, received - asked))
        self.generatedAt = born

        let mustAsk = control.has("no-cache")
        let revalidation = Self.revalidation(control)
        self.revalidation = revalidation
        let times = Self.lifetimes(control, headers, date: date, received: received, policy: policy)
        // The minimum lifetime of the policy does not apply if a shared cache must revalidate, or if the lifetime is zero.
        let sharedFloor = revalidation > .nobody || times.shared == 0 ? 0 : policy.minTTL
        let privateFloor = revalidation == .everybody || times.own == 0 ? 0 : policy.minTTL
        let fresh = mustAsk ? received : Self.end(born, received, times.shared, sharedFloor, policy)
        // The stale periods start at the expiry that the origin set, regardless of the policy (RFC 5861 sections 3 and 4).
        let stale = born + min(times.shared, policy.maxTTL)
        let forbidsStale = revalidation > .nobody
        func until(_ directive: String, _ silently: Int64) -> Int64 {
            forbidsStale ? fresh : max(fresh, stale + (control.seconds(directive) ?? silently))
        }
        freshUntil = fresh
        localFreshUntil = mustAsk ? received : Self.end(born, received, times.own, privateFloor, policy)
        staleWhileRevalidateUntil = until("stale-while-revalidate", times.shared == 0 ? 0 : policy.staleWhileRevalidate)
        staleIfErrorUntil = until("stale-if-error", policy.staleIfError)
    }

    init?(_ head: FetchHead, _ headers: HTTPFields, asked: Int64, received: Int64, policy: FreshnessPolicy) {
        self.init(status: head.status, headers: headers, asked: asked, received: received, policy: policy)
        for redirect in head.redirects {
            var policy = policy
            // A temporary redirect without freshness is valid once (RFC 9110 section 15.4.3), or for the minimum lifetime.
            // A permanent one has the maximum.
            let isPermanent = redirect.status == 301 || redirect.status == 308
            policy.defaultTTL = isPermanent ? policy.maxTTL : policy.minTTL
            policy.heuristicMaxTTL = policy.defaultTTL
            guard let bound = Freshness(status: 200, headers: redirect.headers, asked: asked, received: received, policy: policy) else {
                return nil
            }
            freshUntil = min(freshUntil, bound.freshUntil)
            localFreshUntil = min(localFreshUntil, bound.localFreshUntil)
            staleWhileRevalidateUntil = min(staleWhileRevalidateUntil, bound.staleWhileRevalidateUntil)
            staleIfErrorUntil = min(staleIfErrorUntil, bound.staleIfErrorUntil)
            revalidation = max(revalidation, bound.revalidation)
        }
    }

    /// Creates a freshness that is already stale, so that each request asks the origin.
    init(now: Int64) {
        self.init(generatedAt: now, freshUntil: now, localFreshUntil: now, staleWhileRevalidateUntil: now, staleIfErrorUntil: now)
    }

    func ending(by end: Int64) -> Freshness {
        Freshness(
            generatedAt: generatedAt, freshUntil: min(freshUntil, end), localFreshUntil: min(localFreshUntil, end),
            staleWhileRevalidateUntil: min(staleWhileRevalidateUntil, end), staleIfErrorUntil: min(staleIfErrorUntil, end),
            revalidation: revalidation)
    }

    init(ofBundledAt now: Int64) {
        let end = now + 86_400
        self.init(
            generatedAt: now, freshUntil: end, localFreshUntil: end, staleWhileRevalidateUntil: end, staleIfErrorUntil: end)
    }

    var cacheControl: String {
        let lifetime = max(0, localFreshUntil - generatedAt)
        let shared = max(0, freshUntil - generatedAt)
        let windows = [
            ("stale-while-revalidate", staleWhileRevalidateUntil - freshUntil), ("stale-if-error", staleIfErrorUntil - freshUntil),
        ]
        guard max(lifetime, shared) > 0 || windows.contains(where: { $0.1 > 0 }) else { return "no-cache" }
        var parts = ["public", "max-age=\(lifetime)"]
        if shared != lifetime { parts.append("s-maxage=\(shared)") }
        switch revalidation {
        case .nobody: break
        case .shared: parts.append("proxy-revalidate")
        case .everybody: parts.append("must-revalidate")
        }
        for (name, seconds) in windows where seconds > 0 { parts.append("\(name)=\(seconds)") }
        return parts.joined(separator: ", ")
    }

    /// Returns the caches that must revalidate. `s-maxage` implies `proxy-revalidate` (section 5.2.2.10).
    private static func revalidation(_ control: CacheControl) -> Revalidation {
        if control.has("no-cache") || control.has("must-revalidate") { return .everybody }
        return control.has("proxy-revalidate") || control.has("s-maxage") ? .shared : .nobody
    }

    /// Returns the lifetimes in seconds for shared and private caches (section 4.2.1); zero if use requires revalidation.
    private static func lifetimes(
        _ control: CacheControl, _ headers: HTTPFields, date: Int64, received: Int64, policy: FreshnessPolicy
    ) -> (shared: Int64, own: Int64) {
        // An invalid date, such as "0", means expired (section 5.3).
        let expires = headers[.expires].map { max(0, (HTTPDate.parse($0, now: received) ?? date) - date) }
        let explicit = control.seconds("max-age") ?? expires
        let modified = headers[.lastModified].flatMap { HTTPDate.parse($0, now: received) }
        let guessed = modified.flatMap { $0 < date ? min(max((date - $0) / 10, policy.minTTL), policy.heuristicMaxTTL) : nil }
        if let shared = control.seconds("s-maxage") { return (shared, explicit ?? min(guessed ?? 0, shared)) }
        let lifetime = explicit ?? guessed ?? policy.defaultTTL
        return (lifetime, lifetime)
    }

    /// A minimum lifetime of the policy counts from the receipt. Why: an old response would otherwise be stale on arrival.
    private static func end(_ born: Int64, _ received: Int64, _ lifetime: Int64, _ floor: Int64, _ policy: FreshnessPolicy) -> Int64 {
        let end = born + min(lifetime, policy.maxTTL)
        return floor > 0 ? max(end, received + min(floor, policy.maxTTL)) : end
    }

    private static func age(_ field: String?) -> Int64 {
        guard let text = field?.prefix(while: { $0 != "," }).trimmingBlanks, !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) })
        else { return 0 }
        return min(Int64(text) ?? .max, 1 << 31)
    }

    static func variesByAccept(_ head: FetchHead) -> Bool {
        (head.redirects.map(\.headers) + [head.headers]).contains { headers in
            headers[.vary]?.split(separator: ",").contains { $0.trimmingBlanks.lowercased() == "accept" } ?? false
        }
    }

    /// Returns true if the response varies only by `Accept`, by which images are stored, and by fields that this client sends with constant
    /// values (`Authorization` of a bucket) or never (`Cookie`).
    private static func variesOnlyByUs(_ field: String?) -> Bool {
        field?.split(separator: ",").allSatisfy { $0.trimmingBlanks != "*" } ?? true
    }
}

package struct FreshnessPolicy: Sendable, Hashable {
    /// The minimum lifetime, unless the origin forbids storage or use without revalidation; zero to accept each value of the origin.
    package var minTTL: Int64 = 300
    package var maxTTL: Int64 = 30 * 86_400
    package var defaultTTL: Int64 = 86_400
    package var heuristicMaxTTL: Int64 = 86_400
    package var staleWhileRevalidate: Int64 = 0
    /// The default of `stale-if-error` (RFC 5861 section 4).
    package var staleIfError: Int64 = 0

    package init() {}
}

package struct HostFreshness: Sendable, Hashable {
    package var host: HostPattern
    package var policy: FreshnessPolicy

    package init(_ host: HostPattern, _ policy: FreshnessPolicy) {
        self.host = host
        self.policy = policy
    }
}

/// The directives of a `Cache-Control` field (RFC 9111 section 5.2).
struct CacheControl {
    private var directives: [String: String?] = [:]

    init(_ field: String?) {
        var rest = Substring(field ?? "")
        while let next = Self.next(&rest) {
            if let (name, value) = next, directives[name] == nil { directives[name] = .some(value) }
        }
    }

    func has(_ name: String) -> Bool { directives[name] != nil }

    func seconds(_ name: String) -> Int64? {
        guard let value = directives[name] else { return nil }
        guard let value, !value.isEmpty, value.utf8.allSatisfy({ (48...57).contains($0) }) else { return 0 }
        return min(Int64(value) ?? .max, 1 << 31)
    }

    private static func next(_ rest: inout Substring) -> (String, String?)?? {
        guard !rest.isEmpty else { return nil }
        // An unclosed quote is ignored, because directives after it may forbid more.
        let end = comma(in: rest, heedsQuotes: true) ?? comma(in: rest, heedsQuotes: false) ?? rest.endIndex
        let text = rest[..<end].trimmingBlanks
        rest = end == rest.endIndex ? "" : rest[rest.index(after: end)...]
        guard !text.isEmpty else { return .some(nil) }
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let value = parts.count == 2 ? String(parts[1].trimmingBlanks).filter { $0 != "\"" && $0 != "\\" } : nil
        return .some((parts[0].trimmingBlanks.lowercased(), value))
    }

    /// Returns the end of the first directive; nil within an unclosed quoted string (RFC 9110 section 5.6.4).
    private static func comma(in text: Substring, heedsQuotes: Bool) -> Substring.Index? {
        var (isQuoted, isEscaped) = (false, false)
        for offset in text.indices {
            let character = text[offset]
            if isEscaped {
                isEscaped = false
            } else if isQuoted, character == "\\" {
                isEscaped = true
            } else if heedsQuotes, character == "\"" {
                isQuoted.toggle()
            } else if character == ",", !isQuoted {
                return offset
            }
        }
        return isQuoted ? nil : text.endIndex
    }
}
