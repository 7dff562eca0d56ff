internal import IntertwineEventLoop
internal import IntertwineFetch

/// What ``ImageFetchStateMachine`` wants done, each for the download of a number.
enum FetchEffect: Sendable {
    /// Of each there is one for a download at most.
    enum Timer: CaseIterable, Hashable, Sendable {
        /// While nobody waits.
        case grace
        /// While the answer is held back.
        case headDelay
        /// Before the second attempt.
        case pause
    }

    /// Then say what was found: ``ImageFetchStateMachine/found(_:_:)``.
    case readDisk(UInt64, String, AcceptedFormats.Set)
    /// Then say what was read: ``ImageFetchStateMachine/read(_:_:)``.
    case readFile(UInt64, SandboxedDirectory, String)
    /// Then say that it is known: ``ImageFetchStateMachine/named(_:_:)``.
    case waitForName(UInt64, FetchURL)
    case fetch(UInt64, FetchRequest)
    /// Its transfer may go to where it was redirected.
    case proceed(UInt64)
    case setPaused(UInt64, Bool)
    /// Then say that it is due: ``ImageFetchStateMachine/due(_:_:)``.
    case arm(UInt64, Timer, Duration)
    case disarm(UInt64, Timer)
    /// It is over: so is all that was done for it.
    case drop(UInt64)
    /// It was fetched and is kept: what it looks like is not known.
    case review(CachedImage)
    /// By then, unless something is to be looked for before: ``ImageFetchStateMachine/expireQueue()``.
    case watchQueue(MonotonicInstant)
}
