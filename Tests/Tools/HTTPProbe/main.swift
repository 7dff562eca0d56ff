import Glibc

// A server in a process of its own, for tests that need one: to limit its descriptors, to signal it, to count its allocations.
//
//     HTTPProbe serve [PORT]           prints "listening on ADDRESS"; SIGTERM stops it gracefully, SIGUSR1 prints "allocations N"
//     HTTPProbe allocations REQUESTS   counts the allocations per cached request, and fails where there are any
//     HTTPProbe embed SERVICES         makes and drops services, some of which have run, and fails where they leave a descriptor behind

let arguments = CommandLine.arguments

switch arguments.dropFirst().first {
case "serve":
    try await ProbeService(port: arguments.count > 2 ? UInt16(arguments[2]) ?? 0 : 0).run()
case "allocations":
    exit(try await AllocationCheck(requests: arguments.count > 2 ? Int(arguments[2]) ?? 10_000 : 10_000).run() ? 0 : 1)
case "embed":
    exit(try await EmbedCheck(services: arguments.count > 2 ? Int(arguments[2]) ?? 100 : 100).run() ? 0 : 1)
default:
    say("usage: HTTPProbe serve [PORT] | allocations [REQUESTS] | embed [SERVICES]")
    exit(64)
}
