import Foundation
import Glibc

/// Programs whose folder can be had as a power cut would leave it: with what was synced, and nothing else. See `Tests/Tools/PowerCut/power-cut.c`.
public final class PowerCut {
    /// Empty at first; where the programs keep their files.
    public let folder: String
    private let scratch: String
    private let library: PreloadedLibrary

    /// - Throws: where there is no C compiler.
    public init() throws {
        let files = FileManager.default
        scratch = files.temporaryDirectory.appendingPathComponent("intertwine-power-\(UUID())").path
        folder = "\(scratch)/folder"
        for path in [folder, "\(scratch)/kept"] { try files.createDirectory(atPath: path, withIntermediateDirectories: true) }
        library = try PreloadedLibrary("PowerCut/power-cut.c", in: scratch)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: scratch)
    }

    /// What a program has to be started with.
    ///
    /// - Parameter isFirst: for the first of several: what is there at its start counts as synced.
    public func environment(isFirst: Bool) -> [String: String] {
        ["LD_PRELOAD": library.path, "POWER_CUT_FOLDER": folder, "POWER_CUT_KEPT": "\(scratch)/kept"]
            .merging(isFirst ? ["POWER_CUT_FIRST": "1"] : [:]) { $1 }
    }

    /// Makes a folder of what would be left now.
    public func leave(in place: String) throws {
        let files = FileManager.default
        try files.createDirectory(atPath: place, withIntermediateDirectories: true)
        let lock = open("\(scratch)/kept/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(lock) }
        if flock(lock, LOCK_EX) != 0 { throw RawClientError.system("flock", errno) }
        for line in try String(contentsOfFile: "\(scratch)/kept/names", encoding: .utf8).split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 1).map(String.init)
            let content = "\(scratch)/kept/\(words[0])"
            // A file that was never synced is there, and has nothing in it.
            if files.fileExists(atPath: content) {
                try files.copyItem(atPath: content, toPath: "\(place)/\(words[1])")
            } else {
                _ = files.createFile(atPath: "\(place)/\(words[1])", contents: nil)
            }
        }
    }
}
