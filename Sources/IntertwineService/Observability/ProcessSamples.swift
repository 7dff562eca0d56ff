internal import Foundation
internal import Glibc

enum ProcessSamples {
    static func read() -> [MetricSample] {
        let status = status
        let ticks = status.count > 12 ? (Double(status[11]) ?? 0) + (Double(status[12]) ?? 0) : 0
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let pages = text("/proc/self/statm").split(separator: " ").compactMap { Double($0) }
        let pageSize = Double(sysconf(Int32(_SC_PAGESIZE)))
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
        return [
            counter("process_cpu_seconds_total", "User and system CPU time.", ticks / Double(sysconf(Int32(_SC_CLK_TCK)))),
            gauge("process_resident_memory_bytes", "Resident memory.", (pages.count > 1 ? pages[1] : 0) * pageSize),
            gauge("process_virtual_memory_bytes", "Virtual memory.", (pages.first ?? 0) * pageSize),
            gauge("process_open_fds", "Open file descriptors.", Double(descriptors)),
            gauge("process_max_fds", "Largest number of open file descriptors.", Double(limit.rlim_cur)),
            gauge("process_start_time_seconds", "Start time of the process, in seconds since 1970-01-01 UTC.", startTime),
        ]
    }

    private static var status: [Substring] {
        text("/proc/self/stat").split(separator: ")").last?.split(separator: " ") ?? []
    }

    private static let startTime: Double = {
        let fields = status
        let boot = text("/proc/stat").split(separator: "\n").first { $0.hasPrefix("btime ") }?.split(separator: " ").last
        guard fields.count > 19, let ticks = Double(fields[19]), let boot, let boot = Double(boot) else { return 0 }
        return boot + ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    }()

    private static func text(_ path: String) -> String {
        guard let file = FileHandle(forReadingAtPath: path), let data = try? file.readToEnd() else { return "" }
        return String(decoding: data, as: UTF8.self)
    }

    private static func counter(_ name: String, _ help: String, _ value: Double) -> MetricSample {
        MetricSample(name, .counter, help, value)
    }

    private static func gauge(_ name: String, _ help: String, _ value: Double) -> MetricSample {
        MetricSample(name, .gauge, help, value)
    }
}
