import Foundation

/// Programs of this package, where the build has put them.
public enum BuiltProduct {
    /// The path of the executable of this name, beside the running tests.
    public static func path(_ name: String) -> String {
        let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") }
        let folder = URL(fileURLWithPath: bundle ?? own).deletingLastPathComponent()
        return folder.appendingPathComponent(name).path
    }
}
