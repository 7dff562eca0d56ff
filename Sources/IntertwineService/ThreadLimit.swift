internal import Foundation
internal import IntertwineDeclarations
internal import IntertwineEventLoop

/// The number of threads that the process may start.
package enum ThreadLimit {
    /// What serving takes at most: event loops, the pools of Dispatch and of tasks, readers, writers, and the processes that resize images.
    static let ofServing = 32 + 4 * ProcessInfo.processInfo.activeProcessorCount
    /// What a command takes that does not serve.
    package static let ofCommands = 8 + ProcessInfo.processInfo.activeProcessorCount

    /// Makes sure that so many more threads can start.
    ///
    /// Why: Dispatch waits for as long as it gets no thread. Event loops, tasks, timers and signals wait with it.
    ///
    /// - Throws: `ConfigurationError` with what to do.
    package static func require(_ count: Int) throws {
        let started = ParkedThreads().park(count)
        guard started == count else { throw error(started, needed: count) }
    }

    static func error(_ started: Int, needed: Int) -> ConfigurationError {
        ConfigurationError(
            "the process can start \(started) threads and needs \(needed) (ulimit -u, TasksMax of the unit, pids limit of the container)")
    }
}
