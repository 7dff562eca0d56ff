import Foundation

/// Programs that are killed at one step of what they write: see `Tests/Tools/KillStep/kill-step.c`.
public final class KillStep {
    private let scratch: String
    private let library: PreloadedLibrary

    /// - Throws: where there is no C compiler.
    public init() throws {
        scratch = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-steps-\(UUID())").path
        try FileManager.default.createDirectory(atPath: scratch, withIntermediateDirectories: true)
        library = try PreloadedLibrary("KillStep/kill-step.c", in: scratch)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: scratch)
    }

    /// What a program has to be started with to be killed at a step.
    ///
    /// - Parameters:
    ///   - step: from 1.
    ///   - folder: steps are changes of its files; nil for what is sent over sockets.
    public func environment(step: Int, in folder: String?) -> [String: String] {
        ["LD_PRELOAD": library.path, "KILL_STEP": "\(step)"].merging(folder.map { ["KILL_STEP_FOLDER": $0] } ?? [:]) { $1 }
    }
}
