// The manager in a process of its own, for tests that kill it or count what it holds. Arguments: the origin's port, then one of
//   fill FOLDER FIRST   fetches images from the number FIRST on into a disk cache, until it is killed;
//   storm COUNT         takes back so many requests, and prints descriptors, threads and resident KiB before and after.
import IntertwineHTTPServer
import IntertwineImages
import TestSupport

let arguments = CommandLine.arguments
guard arguments.count > 3, let port = UInt16(arguments[1]), let here = Network("127.0.0.1/32") else { throw CancellationError() }
let policy = AddressPolicy(allowedNetworks: [here], allowedPorts: [port])
let transfers = CurlClient(on: try EventLoop(label: "cache filler"), policy: policy)
var configuration = ImageConfiguration()
configuration.diskBytes = 1_000_000
configuration.memoryBytes = 0

if arguments[2] == "fill" {
    configuration.folder = arguments[3]
    let manager = ImageNetworkManager(configuration, transfers: transfers)
    for number in (Int(arguments[4]) ?? 0)... {
        let answer = await manager.image(ImageRequest("http://127.0.0.1:\(port)/\(number)"))
        if case .stream(let stream, _) = answer.body {
            for try await _ in stream {}
        }
    }
} else {
    configuration.grace = .milliseconds(1)
    configuration.downloadsPerHost = 64
    let manager = ImageNetworkManager(configuration, transfers: transfers)
    // The first storm warms up: threads of the pools, connections, allocator.
    for count in [1_000, Int(arguments[3]) ?? 0] {
        for batch in 0..<(count / 100) {
            let tasks = (0..<100).map { number in
                Task { await manager.image(ImageRequest("http://127.0.0.1:\(port)/\(batch)/\(number)")) }
            }
            if batch % 2 == 1 { _ = await manager.metrics() }
            for task in tasks { task.cancel() }
            for task in tasks { _ = await task.value }
        }
        while case let metrics = await manager.metrics(), metrics.inFlight + metrics.queued + metrics.waiters > 0 {
            try await Task.sleep(for: .milliseconds(2))
        }
        print(ProcessFacts.descriptors, ProcessFacts.threads, ProcessFacts.residentKiB)
    }
}
