import Foundation
import TestSupport
import Testing

@testable import IntertwineImages

/// Images of all forms, made by libvips' own programs, and what those make of them.
final class VipsTools: Sendable {
    private let folder = TemporaryFolder()

    func path(_ name: String) -> String { folder.path + "/" + name }

    func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path(name)))) }

    func write(_ bytes: [UInt8], _ name: String) throws { try Data(bytes).write(to: URL(fileURLWithPath: path(name))) }

    /// Runs a program in the folder. Nil where it fails, otherwise what it prints.
    @discardableResult
    func run(_ program: String, _ arguments: [String]) throws -> String? {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/" + program)
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return process.terminationStatus == 0 ? text : nil
    }

    func vips(_ arguments: String...) throws {
        try #require(try run("vips", arguments) != nil, "vips \(arguments.joined(separator: " "))")
    }

    func grey(_ name: String, profile: String) throws {
        try vips("colourspace", "drawn.ppm", "grey.v", "b-w")
        try vips("jpegsave", "grey.v", name, "--profile", profile)
    }

    /// Slopes, rings and a bright spot off the middle, as an image that compresses like a photograph.
    func drawn(_ name: String, _ width: Int, _ height: Int, phase: Int = 0) throws {
        var pixels = Array("P6 \(width) \(height) 255\n".utf8)
        pixels.reserveCapacity(width * height * 3 + 32)
        for y in 0..<height {
            for x in 0..<width {
                let (dx, dy) = (x - width / 4, y - height / 3)
                let ring = (dx * dx + dy * dy) / max(1, width) + phase
                let isSpot = abs(x - width * 4 / 5) < width / 16 && abs(y - height / 2) < height / 12
                pixels.append(isSpot ? 250 : UInt8(truncatingIfNeeded: x * 255 / max(1, width)))
                pixels.append(isSpot ? 40 : UInt8(truncatingIfNeeded: min(255, 64 + ring % 96)))
                pixels.append(isSpot ? 30 : UInt8(truncatingIfNeeded: y * 200 / max(1, height)))
            }
        }
        try write(pixels, name)
    }

    /// The mean difference of the pixels of two files, of 255; nil where they differ in size or in channels.
    func difference(_ one: String, _ other: String) throws -> Double? {
        func shape(_ name: String) throws -> [String?] {
            try ["width", "height", "bands"].map { try run("vipsheader", ["-f", $0, name]) }
        }
        guard try shape(one) == shape(other) else { return nil }
        try vips("subtract", one, other, "difference.v")
        try vips("abs", "difference.v", "distance.v")
        return try run("vips", ["avg", "distance.v"]).flatMap { Double($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }

    /// The sum that stands behind the name and the bytes of a PNG's part (CRC-32).
    static func sum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        ~bytes.reduce(UInt32.max) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in sum & 1 == 1 ? sum >> 1 ^ 0xedb8_8320 : sum >> 1 }
        }
    }

    /// A JPEG with a note of the camera's: how it was held, and where.
    static func noted(_ jpeg: [UInt8], orientation: UInt8) -> [UInt8] {
        let place = Array("GPS 52.5200 N 13.4050 E".utf8) + [0]
        let text = UInt8(place.count)
        let tiff: [UInt8] =
            [0x49, 0x49, 0x2a, 0, 8, 0, 0, 0, 2, 0]
            + [0x0e, 0x01, 2, 0, text, 0, 0, 0, 38, 0, 0, 0]
            + [0x12, 0x01, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0] + [0, 0, 0, 0] + place
        let body = Array("Exif".utf8) + [0, 0] + tiff
        let length = body.count + 2
        return jpeg.prefix(2) + [0xff, 0xe1, UInt8(length >> 8), UInt8(length & 255)] + body + jpeg.dropFirst(2)
    }
}

/// The transformer with the worker that this build has made.
enum BuiltWorkers {
    static func make(count: Int = 1, timeLimit: Duration = .seconds(60), path: String? = nil) throws -> ImageWorkers {
        var configuration = ImageWorkers.Configuration()
        configuration.path = path ?? BuiltProduct.path("intertwine-image-worker")
        configuration.count = count
        configuration.timeLimit = timeLimit
        configuration.queueTimeout = .seconds(120)
        return try ImageWorkers(configuration)
    }

    /// The workers of this process.
    static var processes: [pid_t] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return all.compactMap { pid_t($0) }.filter { process in
            status(process, "PPid") == String(getpid()) && status(process, "Name") == "intertwine-imag" && status(process, "State") != "Z"
        }
    }

    /// A field of what the kernel says of a process.
    static func status(_ process: pid_t, _ field: String) -> String? {
        let text = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(field + ":") }
        return line?.dropFirst(field.count + 1).split(whereSeparator: { " \t".contains($0) }).first.map(String.init)
    }

    /// Processor time of a process, in ticks of 10 ms.
    static func ticks(_ process: pid_t) -> Int {
        let text = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
        let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
        return fields.count > 12 ? (Int(fields[11]) ?? 0) + (Int(fields[12]) ?? 0) : 0
    }

    /// Waits until a process works.
    static func working(_ process: pid_t) async throws {
        let before = ticks(process)
        while ticks(process) < before + 3 { try await Task.sleep(for: .milliseconds(5)) }
    }

    static func gone(_ process: pid_t) async throws {
        while kill(process, 0) == 0 { try await Task.sleep(for: .milliseconds(2)) }
    }
}
