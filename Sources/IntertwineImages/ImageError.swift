/// An error that explains why there is no image.
///
/// ```swift
/// let error = ImageError(.upstream(status: 503), retryAfter: 10)
/// error.code  // "upstream-503"
/// error.status  // 503
/// ```
package struct ImageError: Error, Sendable, Hashable {
    /// The reasons why there is no image.
    package enum Reason: Sendable, Hashable {
        /// The download failed.
        case fetch(FetchError)
        /// The origin responded with a status other than success.
        case upstream(status: Int)
        /// The first bytes are not those of a permitted image format.
        case typeMismatch
        /// The decoded image would need too much memory on a client.
        case tooManyPixels
        /// The animation has more frames than permitted, or resizing it would need more frames than the time limit allows.
        case tooManyFrames
        /// The first bytes are those of an image, but it cannot be decoded to its end.
        case undecodable
        /// No available decoder supports the image, for example an AVIF animation. Clients may be able to show it.
        case noDecoder
        /// The worker process crashed on this image or exceeded its time limit.
        case workerFailed
        /// The download queue is full.
        case overloaded
        /// The queue timeout of the download has expired.
        case queueTimeout
        /// The circuit breaker of the origin's host is open.
        case circuitOpen
        /// The memory budget for downloads is exhausted.
        case buffersFull
        /// The client cancelled the request.
        case cancelled
        /// The request accepts only a stored image (`only-if-cached`), and none is stored.
        case notStored
        /// The image is available only in formats that the client does not accept.
        case notAcceptable
        /// The request has passed through this service before: the origin leads back to it.
        case loop
    }

    /// The reason why there is no image.
    package let reason: Reason
    /// The time in seconds after which a retry is useful.
    package var retryAfter: Int?

    /// Creates an error.
    ///
    /// - Parameter retryAfter: The time in seconds after which a retry is useful; nil if it is not known.
    package init(_ reason: Reason, retryAfter: Int? = nil) {
        self.reason = reason
        self.retryAfter = retryAfter
    }

    /// The code in the `Image-Error` field and in the type of the problem details.
    ///
    /// ```swift
    /// ImageError(.typeMismatch).code  // "type-mismatch"
    /// ImageError(.fetch(.hostNotFound)).code  // "host-not-found"
    /// ```
    package var code: String {
        switch reason {
        case .fetch(let failure): failure.rawValue
        case .upstream(let status): "upstream-\(status)"
        case .typeMismatch: "type-mismatch"
        case .tooManyPixels: "too-many-pixels"
        case .tooManyFrames: "too-many-frames"
        case .undecodable: "undecodable"
        case .noDecoder: "no-decoder"
        case .workerFailed: "worker-failed"
        case .overloaded: "overloaded"
        case .queueTimeout: "queue-timeout"
        case .circuitOpen: "host-resting"
        case .buffersFull: "buffers-full"
        case .cancelled: "cancelled"
        case .notStored: "not-stored"
        case .notAcceptable: "not-acceptable"
        case .loop: "loop-detected"
        }
    }

    /// All codes except those of upstream statuses, with their statuses.
    ///
    /// ```swift
    /// for (code, status) in ImageError.codes { print(code, status) }  // "malformed-url" 403, …
    /// let isKnown = ImageError.codes.contains { $0.code == "type-mismatch" }  // true
    /// ```
    package static let codes: [(code: String, status: Int)] =
        (FetchError.allCases.map { ImageError(.fetch($0)) }
        + [
            .typeMismatch, .tooManyPixels, .tooManyFrames, .undecodable, .noDecoder, .workerFailed, .overloaded,
            .queueTimeout, .circuitOpen, .buffersFull, .cancelled, .notStored, .notAcceptable, .loop,
        ].map { ImageError($0) })
        .reduce(into: []) { codes, error in
            if !codes.contains(where: { $0.code == error.code }) { codes.append((error.code, error.status)) }
        }

    /// The metric label: the code, with upstream statuses reduced to their class to limit the number of labels.
    var metric: String {
        if case .upstream(let status) = reason { "upstream-\(status / 100)xx" } else { code }
    }

    /// The status of the response to the client; 499 if the client no longer waits for it.
    ///
    /// ```swift
    /// ImageError(.upstream(status: 404)).status  // 404
    /// ImageError(.upstream(status: 500)).status  // 502
    /// ImageError(.typeMismatch).status  // 415
    /// ```
    package var status: Int {
        switch reason {
        case .typeMismatch, .tooManyPixels, .tooManyFrames, .undecodable, .noDecoder: 415
        case .workerFailed: 502
        case .overloaded, .queueTimeout, .circuitOpen, .buffersFull: 503
        case .cancelled: 499
        case .notStored: 504
        case .notAcceptable: 406
        case .loop: 508
        case .upstream(let status): Self.status(upstream: status)
        case .fetch(let failure): Self.status(failure)
        }
    }

    private static func status(upstream: Int) -> Int {
        switch upstream {
        case 404, 410: upstream
        case 401, 403: 403
        case 429, 503: 503
        default: 502
        }
    }

    private static func status(_ failure: FetchError) -> Int {
        switch failure {
        case .malformedURL, .schemeDenied, .userinfoDenied, .portDenied, .hostDenied, .addressDenied, .downgradeDenied: 403
        case .resolveTimeout, .connectTimeout, .headTimeout, .totalTimeout, .tooSlow: 504
        case .cancelled: 499
        case .shuttingDown, .resolverBusy: 503
        case .internalError: 500
        default: 502
        }
    }

    /// Returns the time for which the failure is remembered; nil if it is not.
    func remembered(strikes: Int) -> Duration? {
        switch reason {
        case .overloaded, .queueTimeout, .circuitOpen, .buffersFull, .cancelled, .notStored, .notAcceptable, .loop: return nil
        case .typeMismatch, .tooManyPixels, .tooManyFrames, .undecodable, .noDecoder: return .seconds(3_600)
        // One worker crash may have any cause, so the first one is not remembered.
        case .workerFailed: return strikes < 2 ? .zero : Self.growing(strikes - 1)
        case .upstream(404), .upstream(410): return .seconds(300)
        case .upstream(401), .upstream(403): return .seconds(60)
        case .upstream(429): return .seconds(min(max(retryAfter ?? 10, 1), 600))
        case .upstream: return max(Self.growing(strikes), .seconds(min(max(retryAfter ?? 0, 0), 600)))
        case .fetch(let failure): return Self.remembered(failure, strikes)
        }
    }

    private static func remembered(_ failure: FetchError, _ strikes: Int) -> Duration? {
        switch failure {
        case .cancelled, .shuttingDown, .internalError, .resolverBusy: nil
        case .hostNotFound, .resolveFailed, .resolveTimeout: .seconds(30)
        case .connectFailed, .connectTimeout, .tlsFailed, .headTimeout, .totalTimeout, .tooSlow, .connectionLost, .truncated,
            .protocolError:
            growing(strikes)
        default: .seconds(3_600)
        }
    }

    /// Returns ten seconds, doubled with each consecutive failure, and two minutes at most.
    private static func growing(_ strikes: Int) -> Duration {
        .seconds(min(120, 10 << min(max(strikes - 1, 0), 4)))
    }

    /// True if a stale image may be served (RFC 5861 section 4). The origin, the network or this service failed, and no request was refused.
    var permitsStale: Bool { [500, 502, 503, 504].contains(status) }

    /// The outcome for the circuit breaker of the origin's host; nil if the error says nothing about it.
    var outcome: CircuitBreaker.Outcome? {
        switch reason {
        case .upstream(let status): status >= 500 ? .badResponse : .good
        case .typeMismatch, .tooManyPixels, .tooManyFrames, .undecodable, .noDecoder: .good
        case .fetch(let failure):
            switch failure {
            case .resolveFailed, .resolveTimeout, .connectFailed, .connectTimeout, .tlsFailed: .unreachable
            case .headTimeout, .totalTimeout, .tooSlow, .connectionLost, .truncated, .protocolError: .badResponse
            default: nil
            }
        default: nil
        }
    }
}

extension ImageError {
    /// True if a fallback may be shown: the image is unavailable to every client.
    var permitsFallback: Bool {
        switch reason {
        case .cancelled, .notStored, .notAcceptable, .overloaded, .queueTimeout, .buffersFull, .loop: false
        case .fetch(let failure): ![.cancelled, .shuttingDown, .resolverBusy, .internalError].contains(failure)
        default: true
        }
    }

    /// True if a further request for the image, in any size, would fail as well.
    var isAboutImage: Bool {
        switch reason {
        case .undecodable, .tooManyPixels, .tooManyFrames, .typeMismatch, .workerFailed: true
        // An image of unknown length that lost its end would probably lose it again.
        case .fetch(.truncated): true
        default: false
        }
    }
}
