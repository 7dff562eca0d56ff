internal import IntertwineFetch
internal import IntertwineImages
internal import IntertwinePrimitives

extension HostFreshness {
    static let allowed =
        "a host and what differs there, such as 'pictures.example.com shortest=0s' or '*.example.com default=1h longest=7d "
        + "stale-while-revalidate=1h stale-if-error=1d'"

    /// Reads an element of `images.freshness`: a host, and settings of its own with durations. What is not named is as everywhere.
    init?(setting: String, base: FreshnessPolicy) {
        let words = setting.split(separator: " ")
        guard let host = words.first.flatMap({ HostPattern(String($0)) }), words.count > 1 else { return nil }
        var policy = base
        for word in words.dropFirst() {
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, let time = Duration(setting: parts[1]), (.zero...(.seconds(365 * 86_400))).contains(time) else {
                return nil
            }
            let seconds = time.milliseconds / 1_000
            switch parts[0] {
            case "shortest": policy.shortest = seconds
            case "longest": policy.longest = seconds
            case "default": (policy.silent, policy.heuristic) = (seconds, seconds)
            case "stale-while-revalidate": policy.staleWhileRevalidate = seconds
            case "stale-if-error": policy.staleIfError = seconds
            default: return nil
            }
        }
        self.init(host, policy)
    }
}
