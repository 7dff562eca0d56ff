import Foundation

/// A C file of the tests, made into a library that programs are started with.
struct PreloadedLibrary {
    let path: String

    /// - Parameters:
    ///   - source: within `Tests`.
    ///   - folder: where the library goes.
    /// - Throws: where there is no C compiler.
    init(_ source: String, in folder: String) throws {
        path = "\(folder)/preloaded.so"
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../\(source)").path
        let compiler = try SpawnedProcess(["/usr/bin/gcc", "-shared", "-fPIC", "-O1", "-o", path, source])
        while try compiler.nextLine(timeout: 60_000) != nil {}
        if compiler.wait() != 0 { throw RawClientError.system(compiler.lines.joined(separator: "\n"), 1) }
    }
}
