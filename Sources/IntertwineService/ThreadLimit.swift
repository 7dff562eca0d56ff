internal import Foundation
internal import IntertwineDeclarations
internal import IntertwineEventLoop

/// The number of threads that the process may start.
package enum ThreadLimit {
    /// The maximum number of threads of a serving process: event loops, the pools of Dispatch and of tasks, readers, writers, and the threads for
    /// processes that resize images.
    static let ofServing = 32 + 4 * ProcessInfo.processInfo.activeProcessorCount
    /// The number of threads of a command that does not serve.
    package static let ofCommands = 8 + ProcessInfo.processInfo.activeProcessorCount

    /// Checks that a number of further threads can start.
    ///
    /// Why: without a thread, Dispatch waits forever, and event loops, tasks, timers and signals wait with it.
    ///
    /// - Throws: `ConfigurationError` with the remedy.
    package static func require(_ count: Int) throws {
        let started = ParkedThreads().park(count)
        guard started == count else { throw error(started, needed: count) }
    }

    static func error(_ started: Int, needed: Int) -> ConfigurationError {
        ConfigurationError(
            "the process can start \(started) threads and needs \(needed) (ulimit -u, TasksMax of the unit, pids limit of the container)")
    }
}
