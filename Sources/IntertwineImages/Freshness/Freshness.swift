public import IntertwineFetch
internal import IntertwinePrimitives

/// How long an answer may be used: RFC 9111 as a shared cache, and RFC 5861.
public struct Freshness: Sendable, Hashable {
    /// Who must ask before using it once it is stale (RFC 9111 sections 5.2.2.2 and 5.2.2.8).
    public enum Revalidation: UInt8, Sendable, Hashable, Comparable {
        case nobody, shared, everybody

        public static func < (left: Revalidation, right: Revalidation) -> Bool { left.rawValue < right.rawValue }
    }

    /// Seconds since 1970 at which the answer was made, by its `Date` and `Age`.
    public var generatedAt: Int64
    /// Seconds since 1970 until which it is fresh for us and other shared caches.
    public var freshUntil: Int64
    /// And for a cache of one person alone: `s-maxage` is none of its business.
    public var localFreshUntil: Int64
    /// Until then it may be served stale while it is being fetched anew.
    public var staleWhileRevalidateUntil: Int64
    /// Until then it may be served stale where the origin fails.
    public var staleIfErrorUntil: Int64
    public var revalidation = Revalidation.nobody

    public func isFresh(at now: Int64) -> Bool { now < freshUntil && hasCome(by: now) }

    /// Whether it may be served stale while it is being fetched anew.
    public func bridgesRevalidation(at now: Int64) -> Bool { now < staleWhileRevalidateUntil && hasCome(by: now) }

    /// Whether it may be served stale where the origin fails.
    public func bridgesError(at now: Int64) -> Bool { now < staleIfErrorUntil && hasCome(by: now) }

    /// An answer made well after `now` came while the clock was ahead: what it says about its ends is worth nothing.
    private func hasCome(by now: Int64) -> Bool { now >= generatedAt - 86_400 }

    public func age(at now: Int64) -> Int64 { max(0, now - generatedAt) }

    /// Nil where the answer must not be stored at all.
    /// - Parameters:
    ///   - asked: seconds since 1970 when the request left.
    ///   - received: and when the answer's head had come.
    init?(status: Int, headers: FetchHeaderFields, asked: Int64, received: Int64, policy: FreshnessPolicy) {
        let control = CacheControl(headers["cache-control"])
        // Both statuses are understood, which is what `must-understand` asks for instead (section 5.2.2.3).
        let forbidsStoring = control.has("no-store") && !control.has("must-understand")
        guard status == 200 || status == 304, !forbidsStoring, !control.has("private"), Self.variesOnlyByUs(headers["vary"]) else {
            return nil
        }
        let date = headers["date"].flatMap { HTTPDate.parse($0, now: received) } ?? received
        let born = received - max(max(0, received - date), Self.age(headers["age"]) + max(0, received - asked))
        self.generatedAt = born

        let mustAsk = control.has("no-cache")
        let revalidation = Self.revalidation(control)
        self.revalidation = revalidation
        let times = Self.lifetimes(control, headers, date: date, received: received, policy: policy)
        // What a shared cache must ask about is never used longer than its origin says; nor what says that it must not be used at all.
        let sharedFloor = revalidation > .nobody || times.shared == 0 ? 0 : policy.minTTL
        let privateFloor = revalidation == .everybody || times.own == 0 ? 0 : policy.minTTL
        let fresh = mustAsk ? received : Self.end(born, received, times.shared, sharedFloor, policy)
        // Stale from the time that the origin set, however long we take it to be fresh (RFC 5861 sections 3 and 4).
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

    /// The same for the end of a chain of redirects: who may not use one of them any longer does not get there.
    /// - Parameter headers: the answer's own, or what they are together with those of the answer that it confirms.
    init?(_ head: FetchHead, _ headers: FetchHeaderFields, asked: Int64, received: Int64, policy: FreshnessPolicy) {
        self.init(status: head.status, headers: headers, asked: asked, received: received, policy: policy)
        for redirect in head.redirects {
            var policy = policy
            // A temporary one that says nothing holds for this once (RFC 9110 section 15.4.3), or for as long as all do; a permanent one for good.
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

    /// Already stale, and of no use as such: each request asks the origin.
    init(now: Int64) {
        self.init(generatedAt: now, freshUntil: now, localFreshUntil: now, staleWhileRevalidateUntil: now, staleIfErrorUntil: now)
    }

    /// The same, and of no use from `end` on.
    func ending(by end: Int64) -> Freshness {
        Freshness(
            generatedAt: generatedAt, freshUntil: min(freshUntil, end), localFreshUntil: min(localFreshUntil, end),
            staleWhileRevalidateUntil: min(staleWhileRevalidateUntil, end), staleIfErrorUntil: min(staleIfErrorUntil, end),
            revalidation: revalidation)
    }

    /// Of what comes with the program: for a day.
    init(ofBundledAt now: Int64) {
        let end = now + 86_400
        self.init(
            generatedAt: now, freshUntil: end, localFreshUntil: end, staleWhileRevalidateUntil: end, staleIfErrorUntil: end)
    }

    init(
        generatedAt: Int64, freshUntil: Int64, localFreshUntil: Int64, staleWhileRevalidateUntil: Int64, staleIfErrorUntil: Int64,
        revalidation: Revalidation = .nobody
    ) {
        self.generatedAt = generatedAt
        self.freshUntil = freshUntil
        self.localFreshUntil = localFreshUntil
        self.staleWhileRevalidateUntil = staleWhileRevalidateUntil
        self.staleIfErrorUntil = staleIfErrorUntil
        self.revalidation = revalidation
    }

    /// What other caches are told.
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

    /// `s-maxage` forbids shared caches what `proxy-revalidate` does (section 5.2.2.10).
    private static func revalidation(_ control: CacheControl) -> Revalidation {
        if control.has("no-cache") || control.has("must-revalidate") { return .everybody }
        return control.has("proxy-revalidate") || control.has("s-maxage") ? .shared : .nobody
    }

    /// Seconds of use, for shared caches and for one's own (section 4.2.1), zero where it must not be used without asking.
    private static func lifetimes(
        _ control: CacheControl, _ headers: FetchHeaderFields, date: Int64, received: Int64, policy: FreshnessPolicy
    ) -> (shared: Int64, own: Int64) {
        // An invalid date, "0" above all, means expired (section 5.3).
        let expires = headers["expires"].map { max(0, (HTTPDate.parse($0, now: received) ?? date) - date) }
        let explicit = control.seconds("max-age") ?? expires
        let modified = headers["last-modified"].flatMap { HTTPDate.parse($0, now: received) }
        let guessed = modified.flatMap { $0 < date ? min(max((date - $0) / 10, policy.minTTL), policy.heuristicMaxTTL) : nil }
        if let shared = control.seconds("s-maxage") { return (shared, explicit ?? min(guessed ?? 0, shared)) }
        let lifetime = explicit ?? guessed ?? policy.defaultTTL
        return (lifetime, lifetime)
    }

    /// A lifetime that the policy lengthened counts from now: an old answer would otherwise be stale on arrival, each time.
    private static func end(_ born: Int64, _ received: Int64, _ lifetime: Int64, _ floor: Int64, _ policy: FreshnessPolicy) -> Int64 {
        let end = born + min(lifetime, policy.maxTTL)
        return floor > 0 ? max(end, received + min(floor, policy.maxTTL)) : end
    }

    /// The first of several; what is no number is not there (section 5.1).
    private static func age(_ field: String?) -> Int64 {
        guard let text = field?.prefix(while: { $0 != "," }).trimmingBlanks, !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) })
        else { return 0 }
        return min(Int64(text) ?? .max, 1 << 31)
    }

    /// Whether the answer, or a redirect that led to it, was chosen by the formats that were asked for.
    static func variesByAccept(_ head: FetchHead) -> Bool {
        (head.redirects.map(\.headers) + [head.headers]).contains { headers in
            headers["vary"]?.split(separator: ",").contains { $0.trimmingBlanks.lowercased() == "accept" } ?? false
        }
    }

    /// The fields that we send the same way each time, or never; and `Accept`, by which pictures are kept apart.
    /// An answer that varies by anything else was made for somebody.
    private static func variesOnlyByUs(_ field: String?) -> Bool {
        guard let field else { return true }
        let constant: Set = ["accept", "accept-encoding", "accept-language", "user-agent", "origin", "via"]
        return field.split(separator: ",").allSatisfy { constant.contains($0.trimmingBlanks.lowercased()) }
    }
}

/// The bounds within which origins decide how long their pictures are kept. All in seconds.
public struct FreshnessPolicy: Sendable, Hashable {
    /// Whatever an origin says, short of forbidding storage or use without asking; zero to take each at its word.
    public var minTTL: Int64 = 300
    public var maxTTL: Int64 = 30 * 86_400
    /// Where an origin says nothing and gives no date of change.
    public var defaultTTL: Int64 = 86_400
    /// The longest lifetime guessed from a date of change.
    public var heuristicMaxTTL: Int64 = 86_400
    /// Where an origin says nothing about stale use, how long it is permitted all the same.
    public var staleWhileRevalidate: Int64 = 0
    public var staleIfError: Int64 = 0

    public init() {}
}

/// The bounds for the pictures of certain hosts.
public struct HostFreshness: Sendable, Hashable {
    public var host: HostPattern
    public var policy: FreshnessPolicy

    public init(_ host: HostPattern, _ policy: FreshnessPolicy) {
        self.host = host
        self.policy = policy
    }
}

/// The directives of a `Cache-Control` field (RFC 9111 section 5.2). Where one comes twice, the first counts.
struct CacheControl {
    private var directives: [String: String?] = [:]

    init(_ field: String?) {
        var rest = Substring(field ?? "")
        while let next = Self.next(&rest) {
            if let (name, value) = next, directives[name] == nil { directives[name] = .some(value) }
        }
    }

    func has(_ name: String) -> Bool { directives[name] != nil }

    /// Seconds. What is no number counts as zero (section 4.2.1: an answer with invalid freshness is stale), what is too large as 2³¹.
    func seconds(_ name: String) -> Int64? {
        guard let value = directives[name] else { return nil }
        guard let value, !value.isEmpty, value.utf8.allSatisfy({ (48...57).contains($0) }) else { return 0 }
        return min(Int64(value) ?? .max, 1 << 31)
    }

    /// The next directive; a nil inside is an empty list element.
    private static func next(_ rest: inout Substring) -> (String, String?)?? {
        guard !rest.isEmpty else { return nil }
        // A quote that is never closed quotes nothing: what stands behind it may forbid the more.
        let end = comma(in: rest, heedsQuotes: true) ?? comma(in: rest, heedsQuotes: false) ?? rest.endIndex
        let text = rest[..<end].trimmingBlanks
        rest = end == rest.endIndex ? "" : rest[rest.index(after: end)...]
        guard !text.isEmpty else { return .some(nil) }
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let value = parts.count == 2 ? String(parts[1].trimmingBlanks).filter { $0 != "\"" && $0 != "\\" } : nil
        return .some((parts[0].trimmingBlanks.lowercased(), value))
    }

    /// Where the first directive ends, or the text where all of it is one; nil within a quoted string that has no end (RFC 9110 section 5.6.4).
    private static func comma(in text: Substring, heedsQuotes: Bool) -> Substring.Index? {
        var (isQuoted, isEscaped) = (false, false)
        for place in text.indices {
            let character = text[place]
            if isEscaped {
                isEscaped = false
            } else if isQuoted, character == "\\" {
                isEscaped = true
            } else if heedsQuotes, character == "\"" {
                isQuoted.toggle()
            } else if character == ",", !isQuoted {
                return place
            }
        }
        return isQuoted ? nil : text.endIndex
    }
}
