public import IntertwineFetch

/// Why there is no picture.
public struct ImageError: Error, Sendable, Hashable {
    public enum Reason: Sendable, Hashable {
        case fetch(FetchError)
        /// The origin answered, and not with a picture.
        case upstream(status: Int)
        /// The declared type is none that is passed on, or no type at all.
        case typeDenied
        /// The first bytes are not what was declared.
        case typeMismatch
        /// Drawn, it would take more memory than a client should have to give.
        case tooManyPixels
        /// It is an animation with more frames than are passed on, or of which more would have to be made than there is time for.
        case tooManyFrames
        /// Its first bytes are a picture's, and it cannot be decoded to its end.
        case undecodable
        /// No decoder here reads it, such as an animation in AVIF. Clients may show it.
        case noDecoder
        /// What decodes pictures died of this one, or took too long.
        case workerFailed
        /// The body is compressed, though nothing of the kind was asked for.
        case encoded
        /// Too many downloads wait already.
        case overloaded
        /// It waited too long for its turn.
        case queueTimeout
        /// The origin's host is left alone for a while.
        case circuitOpen
        /// The memory set aside for downloads is in use.
        case buffersFull
        /// The client took the request back.
        case cancelled
        /// Only a stored picture would have done, and none is.
        case notStored
        /// There is a picture, in no format that the client takes.
        case notAcceptable
        /// The request has come through here before: the origin leads back to us.
        case loop
    }

    public let reason: Reason
    /// Seconds after which it pays to ask again.
    public var retryAfter: Int?

    public init(_ reason: Reason, retryAfter: Int? = nil) {
        self.reason = reason
        self.retryAfter = retryAfter
    }

    /// What `Image-Error` and the problem's type say.
    public var code: String {
        switch reason {
        case .fetch(let failure): failure.rawValue
        case .upstream(let status): "upstream-\(status)"
        case .typeDenied: "type-denied"
        case .typeMismatch: "type-mismatch"
        case .tooManyPixels: "too-many-pixels"
        case .tooManyFrames: "too-many-frames"
        case .undecodable: "undecodable"
        case .noDecoder: "no-decoder"
        case .workerFailed: "worker-failed"
        case .encoded: "encoded-body"
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

    /// The code, with origins' statuses by their class: few enough for a metric's label.
    var metric: String {
        if case .upstream(let status) = reason { "upstream-\(status / 100)xx" } else { code }
    }

    /// The status of the answer to our client. 499 where it no longer waits for one.
    public var status: Int {
        switch reason {
        case .typeDenied, .typeMismatch, .tooManyPixels, .tooManyFrames, .undecodable, .noDecoder, .encoded: 415
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

    /// How long it is answered from memory; nil for not at all.
    func remembered(strikes: Int) -> Duration? {
        switch reason {
        case .overloaded, .queueTimeout, .circuitOpen, .buffersFull, .cancelled, .notStored, .notAcceptable, .loop: return nil
        case .typeDenied, .typeMismatch, .tooManyPixels, .tooManyFrames, .undecodable, .noDecoder, .encoded: return .seconds(3_600)
        // What took the worker with it may have been anything, once.
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

    /// Ten seconds, doubled with each failure in a row, two minutes at most.
    private static func growing(_ strikes: Int) -> Duration {
        .seconds(min(120, 10 << min(max(strikes - 1, 0), 4)))
    }

    /// Whether a stale picture may stand in (RFC 5861 section 4): the origin, the way there or we ourselves failed, and nobody was refused.
    var permitsStale: Bool { [500, 502, 503, 504].contains(status) }

    /// What it says about the origin's host; nil for nothing.
    var outcome: CircuitBreaker.Outcome? {
        switch reason {
        case .upstream(let status): status >= 500 ? .badResponse : .good
        case .typeDenied, .typeMismatch, .tooManyPixels, .tooManyFrames, .undecodable, .noDecoder, .encoded: .good
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
    /// Whether something else may be shown in the picture's place: it cannot be had, whoever asks.
    var permitsFallback: Bool {
        switch reason {
        case .cancelled, .notStored, .notAcceptable, .overloaded, .queueTimeout, .buffersFull, .loop: false
        case .fetch(let failure): ![.cancelled, .shuttingDown, .resolverBusy, .internalError].contains(failure)
        default: true
        }
    }

    /// Whether the next one who asks for the picture, in whatever size, would fare no better.
    var isAboutImage: Bool {
        switch reason {
        case .undecodable, .tooManyPixels, .tooManyFrames, .typeMismatch, .workerFailed: true
        // An image of unknown length that lost its end would probably lose it again.
        case .fetch(.truncated): true
        default: false
        }
    }
}
