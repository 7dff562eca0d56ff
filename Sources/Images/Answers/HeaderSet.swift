/// The header fields of answers: ours alone, nothing of the origin's passes but dates and lifetimes.
enum HeaderSet {
    static func picture(_ image: CachedImage, _ status: CacheStatus, now: Int64) -> [ImageAnswer.Header] {
        var headers = common(image.kind)
        headers.append(field("Cache-Control", cacheControl(image.freshness)))
        headers.append(field("Age", String(image.freshness.age(at: now))))
        headers.append(field("ETag", image.etag))
        if let modified = image.lastModified { headers.append(field("Last-Modified", HTTPDate.format(modified))) }
        headers.append(field("Cache-Status", status.field))
        return headers
    }

    static func picture(_ head: PictureHead, _ status: CacheStatus, now: Int64) -> [ImageAnswer.Header] {
        var headers = common(head.kind)
        // Nobody could tell that the tail is missing, and the next cache should not keep what we would not.
        let freshness = head.isDelimited ? head.freshness : nil
        headers.append(field("Cache-Control", freshness.map(cacheControl) ?? "no-store"))
        if let freshness { headers.append(field("Age", String(freshness.age(at: now)))) }
        headers.append(field("Cache-Status", status.field))
        return headers
    }

    /// No validators, and nothing that makes a failure outlive its cause (a 304 would otherwise confirm an error for a picture).
    static func failure(_ failure: ImageFailure, _ status: CacheStatus) -> [ImageAnswer.Header] {
        var headers = refusal(failure.code)
        headers.append(field("Cache-Status", status.field))
        let isPassing = failure.status == 503
        if let seconds = failure.retryAfter ?? (isPassing ? 1 : nil) { headers.append(field("Retry-After", String(seconds))) }
        return headers
    }

    static func refusal(_ reason: String) -> [ImageAnswer.Header] {
        [
            field("Cache-Control", "no-store"),
            field("X-Content-Type-Options", "nosniff"),
            field("Content-Security-Policy", policy),
            field("Image-Error", reason),
        ]
    }

    private static let policy = "default-src 'none'; sandbox"

    private static func common(_ kind: MediaKind) -> [ImageAnswer.Header] {
        let ending = kind.contentType.dropFirst("image/".count)
        return [
            field("Content-Type", kind.contentType),
            field("X-Content-Type-Options", "nosniff"),
            field("Content-Security-Policy", policy),
            field("Cross-Origin-Resource-Policy", "cross-origin"),
            field("Content-Disposition", "inline; filename=\"image.\(ending)\""),
        ]
    }

    private static func cacheControl(_ freshness: Freshness) -> String {
        let lifetime = freshness.freshUntil - freshness.born
        guard freshness.staleWhileRevalidateUntil > freshness.freshUntil || freshness.staleIfErrorUntil > freshness.freshUntil else {
            return lifetime > 0 ? "public, max-age=\(lifetime), must-revalidate" : "no-cache"
        }
        let revalidate = freshness.staleWhileRevalidateUntil - freshness.freshUntil
        let error = freshness.staleIfErrorUntil - freshness.freshUntil
        return "public, max-age=\(lifetime), stale-while-revalidate=\(revalidate), stale-if-error=\(error)"
    }

    private static func field(_ name: String, _ value: String) -> ImageAnswer.Header {
        ImageAnswer.Header(name: name, value: value)
    }
}
