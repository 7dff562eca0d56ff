import TestSupport

/// One run of the command line, to its end. Blocking.
enum Command {
    static func run(_ arguments: [String], environment: [String: String] = [:]) throws -> (code: Int32, lines: [String]) {
        let process = try SpawnedProcess([BuiltProduct.path("intertwine")] + arguments, environment: environment)
        while try process.nextLine(timeout: 60_000) != nil {}
        return (process.wait(), process.lines)
    }
}
