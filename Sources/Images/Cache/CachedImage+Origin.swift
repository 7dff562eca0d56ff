internal import Fetch

/// What the origin said of a picture, for the next time that it is asked.
extension CachedImage {
    /// What to ask the origin with.
    struct Validators: Sendable, Hashable {
        var etag: String?
        var lastModified: String?
        /// The URL that the picture came from, after redirects: they say nothing of any other.
        var location: String?

        var conditions: (url: FetchURL, fields: FetchHeaders)? {
            guard let url = location.flatMap({ try? FetchURL($0) }) else { return nil }
            var fields = FetchHeaders()
            if let etag { fields.append("If-None-Match", etag) }
            if let lastModified { fields.append("If-Modified-Since", lastModified) }
            return fields.fields.isEmpty ? nil : (url, fields)
        }

        /// Whether a 304 with these is about another picture than the one with those: a strong tag that differs (RFC 9111 section 4.3.4).
        func contradict(_ stored: Validators) -> Bool {
            guard let etag, !etag.hasPrefix("W/"), let other = stored.etag else { return false }
            return etag != other
        }
    }

    /// The fields that decide how long it may be used, as the origin wrote them last.
    struct Terms: Sendable, Hashable {
        var cacheControl: String?
        var expires: String?
        var vary: String?

        init(cacheControl: String? = nil, expires: String? = nil, vary: String? = nil) {
            self.cacheControl = cacheControl
            self.expires = expires
            self.vary = vary
        }

        init(_ headers: FetchHeaders) {
            self.init(cacheControl: headers["cache-control"], expires: headers["expires"], vary: headers["vary"])
        }

        func updated(by headers: FetchHeaders) -> Terms {
            let new = Terms(headers)
            return Terms(cacheControl: new.cacheControl ?? cacheControl, expires: new.expires ?? expires, vary: new.vary ?? vary)
        }

        /// These terms with what a 304 says of its own time.
        func headers(beside answer: FetchHeaders, lastModified: String?) -> FetchHeaders {
            var headers = FetchHeaders()
            let fields = [
                ("Cache-Control", cacheControl), ("Expires", expires), ("Vary", vary), ("Last-Modified", lastModified),
                ("Date", answer["date"]), ("Age", answer["age"]),
            ]
            for (name, value) in fields {
                if let value { headers.append(name, value) }
            }
            return headers
        }
    }
}
