internal import CIntertwineLinux

/// Starts POSIX threads for work that must not wait for a thread of Dispatch.
package enum DetachedThread {
    private final class Body {
        let run: @Sendable () -> Void

        init(run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }

    /// Runs a closure on a new thread.
    ///
    /// ```swift
    /// let isStarted = DetachedThread.start(stackBytes: 64 << 10) { print("runs on a thread of its own") }
    /// if !isStarted { print("no thread is available") }
    /// ```
    ///
    /// - Parameter stackBytes: The size of the thread's stack.
    /// - Returns: False if the system provides no thread. The closure is then not called.
    package static func start(stackBytes: Int, _ run: @escaping @Sendable () -> Void) -> Bool {
        let body = Unmanaged.passRetained(Body(run: run))
        let result = clinux_start_thread(
            stackBytes, { context in if let context { Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run() } }, body.toOpaque())
        if result != 0 { body.release() }
        return result == 0
    }
}
