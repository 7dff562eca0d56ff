internal import CIntertwineLinux

/// Starts threads of their own, for work that must not wait for Dispatch.
package enum DetachedThread {
    private final class Body {
        let run: @Sendable () -> Void

        init(run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }

    /// Runs a closure on a new thread.
    ///
    /// - Parameter stackBytes: the size of its stack.
    /// - Returns: false if the system provides no thread. The closure is not called then.
    package static func start(stackBytes: Int, _ run: @escaping @Sendable () -> Void) -> Bool {
        let body = Unmanaged.passRetained(Body(run: run))
        let result = clinux_start_thread(
            stackBytes, { context in if let context { Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run() } }, body.toOpaque())
        if result != 0 { body.release() }
        return result == 0
    }
}
