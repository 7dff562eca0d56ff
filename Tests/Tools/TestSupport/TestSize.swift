import Foundation
public import Testing

/// How much input the tests have: a part of it in `make test`, all of it with `TEST_ALL` in the environment.
public enum TestSize {
    public static let isFull = ProcessInfo.processInfo.environment["TEST_ALL"].map { !$0.isEmpty } ?? false

    public static func full<Value>(_ full: Value, small: Value) -> Value { isFull ? full : small }

    /// The distance between the steps at which a program is killed.
    public static let stepsBetweenKills = full(1, small: 7)
}

extension Trait where Self == ConditionTrait {
    /// The test needs all of its input, or measures something that takes long.
    public static var onlyInFull: Self { .enabled(if: TestSize.isFull, "TEST_ALL is not set") }

    /// The test mounts a file system: one that is read-only, or a small one that becomes full.
    public static var mounts: Self { .enabled(if: Mount.isPossible, "mounting needs CAP_SYS_ADMIN") }
}

extension TimeLimitTrait.Duration {
    /// Ends a test that waits for something that never happens. It is no bound on speed, so that a busy machine fails no test.
    public static var untilStuck: Self { .minutes(TestSize.full(15, small: 6)) }
}
