internal import CIntertwineLinux

/// Starts POSIX threads for work that must not wait for a thread of Dispatch.
package enum DetachedThread {
    private final class Body {
        let run: @Sendable () -> Void

        init(run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }

    package static func start(stackBytes: Int, _ run: @escaping @Sendable () -> Void) -> Bool {
        let body = Unmanaged.passRetained(Body(run: run))
        let result = clinux_start_thread(
            stackBytes, { context in if let context { Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run() } }, body.toOpaque())
        if result != 0 { body.release() }
        return result == 0
    }
}
