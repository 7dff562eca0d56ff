/// Whether an event counts, and if not, why. The person is served all the same; only the count differs.
public enum Verdict: String, Sendable, Hashable, CaseIterable {
    case counted, duplicate, expired, bot, prefetch, limited, unknown
}
