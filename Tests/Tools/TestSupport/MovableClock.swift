import Foundation

/// The time of day of programs that are started with ``environment``. See `Tests/Tools/MovableClock/movable-clock.c`.
public final class MovableClock {
    private let folder: String
    private let library: PreloadedLibrary

    /// Seconds that the programs' clocks are ahead of the machine's.
    public var offset: Int64 = 0 {
        didSet { try? write() }
    }

    /// - Throws: where there is no C compiler.
    public init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-clock-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        library = try PreloadedLibrary("MovableClock/movable-clock.c", in: folder)
        try write()
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    public var environment: [String: String] { ["LD_PRELOAD": library.path, "CLOCK_OFFSET": "\(folder)/offset"] }

    /// In place, since the programs hold the file.
    private func write() throws {
        let path = "\(folder)/offset"
        if !FileManager.default.fileExists(atPath: path) { try Data(count: 8).write(to: URL(fileURLWithPath: path)) }
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.write(contentsOf: withUnsafeBytes(of: offset) { Data($0) })
        try file.close()
    }
}
