internal import CImageSandbox
internal import Glibc
internal import IntertwineImageWire

enum SandboxCheck {
    static func run(_ lockIn: () -> WorkerReport) -> Int32 {
        // A sandboxed process cannot write to files, and standard output may be one.
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { return 71 }
        let child = sandbox_fork()
        guard child != 0 else {
            dup2(ends[1], STDOUT_FILENO)
            close(ends[0])
            close(ends[1])
            let result = attempt(lockIn())
            fflush(nil)
            _exit(result)
        }
        close(ends[1])
        var byte: UInt8 = 0
        while read(ends[0], &byte, 1) == 1 { write(STDOUT_FILENO, &byte, 1) }
        var status: Int32 = 0
        return child > 0 && waitpid(child, &status, 0) == child && status & 0x7f == 0 ? status >> 8 & 0xff : 71
    }

    private static func attempt(_ report: WorkerReport) -> Int32 {
        let attempts: [(String, () -> Bool)] = [
            ("open a file", { open("/etc/passwd", O_RDONLY) >= 0 }),
            ("create a file", { open("/tmp/intertwine-image-worker-check", O_WRONLY | O_CREAT, 0o600) >= 0 }),
            ("create a socket", { socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) >= 0 }),
            ("create a descriptor", { dup(0) >= 0 }),
            ("start a process", isForking),
            ("run a program", { execv("/bin/true", [nil]) == 0 }),
            ("signal another process", { kill(getppid(), 0) == 0 }),
            (
                "map executable memory",
                { mmap(nil, 4_096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED }
            ),
            ("exceed its memory limit", { mmap(nil, 2 << 30, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED }),
        ]
        print("libvips \(report.library)")
        print("seccomp: \(report.hasSeccomp ? "on" : "off")")
        print("landlock: \(report.landlock > 0 ? "version \(report.landlock)" : "off")")
        print("limits: \(report.hasLimits ? "on" : "off")")
        var result: Int32 = 0
        for (what, succeeds) in attempts {
            let isPossible = succeeds()
            if isPossible { result = 1 }
            print("\(isPossible ? "CAN" : "cannot") \(what)")
        }
        return result
    }

    private static func isForking() -> Bool {
        let child = sandbox_fork()
        if child == 0 { _exit(0) }
        return child > 0
    }
}
