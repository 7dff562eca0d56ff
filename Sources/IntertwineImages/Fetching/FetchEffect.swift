internal import IntertwineEventLoop
internal import IntertwineFetch

/// An effect that ``ImageFetchStateMachine`` requests, for the download with a number.
enum FetchEffect: Sendable {
    /// A timer of a download; each download has at most one of each case.
    enum Timer: CaseIterable, Hashable, Sendable {
        /// The grace period without waiters.
        case grace
        /// The delay of the response.
        case headDelay
        /// The pause before the second attempt.
        case pause
    }

    /// Reads the disk cache, then calls ``ImageFetchStateMachine/found(_:_:)`` with the result.
    case readDisk(UInt64, String, AcceptedFormats.Set)
    /// Reads a file, then calls ``ImageFetchStateMachine/read(_:_:)`` with the result.
    case readFile(UInt64, SandboxedDirectory, String)
    /// Resolves the host name, then calls ``ImageFetchStateMachine/named(_:_:)``.
    case waitForName(UInt64, FetchURL)
    case fetch(UInt64, FetchRequest)
    /// Lets the transfer follow its redirect.
    case proceed(UInt64)
    case setPaused(UInt64, Bool)
    /// Starts a timer, and calls ``ImageFetchStateMachine/due(_:_:)`` if it fires.
    case arm(UInt64, Timer, Duration)
    case disarm(UInt64, Timer)
    /// Ends the download and all work on its behalf.
    case drop(UInt64)
    /// Analyzes an image that was fetched and stored, and whose metadata is unknown.
    case review(CachedImage)
    /// Calls ``ImageFetchStateMachine/expireQueue()`` at this time, unless an earlier call is scheduled.
    case watchQueue(MonotonicInstant)
}
