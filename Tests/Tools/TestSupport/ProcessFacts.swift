import Foundation

/// What this process uses right now, as the kernel counts it.
public enum ProcessFacts {
    public static var descriptors: Int { (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0 }

    public static var threads: Int { number("Threads:") }

    public static var residentKiB: Int { number("VmRSS:") }

    private static func number(_ name: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
        return line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Int($0) } ?? 0
    }
}
