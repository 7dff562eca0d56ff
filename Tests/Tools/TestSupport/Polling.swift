import Foundation

/// A condition that was not met in time.
public struct PollTimeout: Error, CustomStringConvertible {
    public let description: String

    init(_ seconds: Int, _ file: StaticString, _ line: UInt) { description = "\(file):\(line): not met within \(seconds) s" }
}

/// Repeats a check until it is met, for conditions without an event. The pauses leave the processor to the program under test.
/// Blocks the thread: call it within ``offPool(_:)``.
///
/// - Throws: ``PollTimeout`` after `seconds`, and errors of the check.
public func poll(
    seconds: Int = 60, file: StaticString = #fileID, line: UInt = #line, until isMet: () throws -> Bool
) throws {
    let end = ContinuousClock.now + .seconds(seconds)
    while try !isMet() {
        guard ContinuousClock.now < end else { throw PollTimeout(seconds, file, line) }
        Thread.sleep(forTimeInterval: 0.02)
    }
}

/// Repeats an asynchronous check until it is met, without blocking a thread.
///
/// - Throws: ``PollTimeout`` after `seconds`, and errors of the check.
public func poll(
    seconds: Int = 60, file: StaticString = #fileID, line: UInt = #line, until isMet: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + .seconds(seconds)
    while try await !isMet() {
        guard ContinuousClock.now < end else { throw PollTimeout(seconds, file, line) }
        try await Task.sleep(for: .milliseconds(2))
    }
}
