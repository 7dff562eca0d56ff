/// Checks that an implementation of a protocol of the service has the documented behaviour.
///
/// A test of the program calls one of the checks:
///
/// ```swift
/// @Test func storeConforms() async throws {
///     try await Conformance.check(MyStore(items))
/// }
/// ```
public enum Conformance {}

/// The requirements that an implementation violates.
public struct ConformanceError: Error, Hashable, CustomStringConvertible {
    /// One sentence for each violated requirement.
    public let violations: [String]

    /// The violations, one in each line.
    public var description: String { violations.joined(separator: "\n") }
}

/// The requirements that were violated so far.
struct Violations: Sendable {
    private(set) var list: [String] = []

    /// Records a requirement, which is a sentence, if it is not met.
    mutating func require(_ isMet: Bool, _ requirement: String) {
        if !isMet, !list.contains(requirement) { list.append(requirement) }
    }

    mutating func add(_ other: Violations) { for each in other.list { require(false, each) } }

    func finish() throws(ConformanceError) {
        if !list.isEmpty { throw ConformanceError(violations: list) }
    }
}
