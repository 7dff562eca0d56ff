package struct ImageError: Error, Sendable, Hashable {
    package enum Reason: Sendable, Hashable {
        case fetch(FetchError)
        case upstream(status: Int)
        case typeMismatch
        /// The decoded image would need too much memory on a client.
        case tooManyPixels
        /// The animation has more frames than permitted, or resizing it would need more frames than the time limit allows.
        case tooManyFrames
        case undecodable
        case noDecoder
        case workerFailed
        case overloaded
        case queueTimeout
        case circuitOpen
        case buffersFull
        case cancelled
        case notStored
        case notAcceptable
        case loop
    }

    package let reason: Reason
    /// The time in seconds after which a retry is useful.
    package var retryAfter: Int?

    package init(_ reason: Reason, retryAfter: Int? = nil) {
        self.reason = reason
        self.retryAfter = retryAfter
    }

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

    package static let codes: [(code: String, status: Int)] =
        (FetchError.allCases.map { ImageError(.fetch($0)) }
        + [
            .typeMismatch, .tooManyPixels, .tooManyFrames, .undecodable, .noDecoder, .workerFailed, .overloaded,
            .queueTimeout, .circuitOpen, .buffersFull, .cancelled, .notStored, .notAcceptable, .loop,
        ].map { ImageError($0) })
        .reduce(into: []) { codes, error in
            if !codes.contains(where: { $0.code == error.code }) { codes.append((error.code, error.status)) }
        }

    var metric: String {
        if case .upstream(let status) = reason { "upstream-\(status / 100)xx" } else { code }
    }

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

    private static func growing(_ strikes: Int) -> Duration {
        .seconds(min(120, 10 << min(max(strikes - 1, 0), 4)))
    }

    /// True if a stale image may be served (RFC 5861 section 4).
    var permitsStale: Bool { [500, 502, 503, 504].contains(status) }

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
