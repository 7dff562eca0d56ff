// Fetches pictures into a disk cache until it is killed. Arguments: the cache's folder, the origin's port, the first picture's number.
// Writes the number of each picture that was fetched to standard output.
import EventLoop
import Fetch
import Images

let arguments = CommandLine.arguments
guard arguments.count == 4, let port = UInt16(arguments[2]), let first = Int(arguments[3]), let here = Network("127.0.0.1/32") else {
    print("usage: CacheFiller FOLDER PORT FIRST")
    throw CancellationError()
}
let policy = AddressPolicy(allowedNetworks: [here], allowedPorts: [port])
let transfers = Transfers(on: try EventLoop(label: "cache filler"), policy: policy)
var configuration = ImageConfiguration()
configuration.folder = arguments[1]
configuration.diskBytes = 1_000_000
configuration.memoryBytes = 0
let manager = try ImageNetworkManager(configuration, transfers: transfers)
for number in first... {
    let answer = await manager.image(ImageRequest("http://127.0.0.1:\(port)/\(number)"))
    if case .stream(let stream, _) = answer.body {
        for try await _ in stream {}
    }
    print(number)
}
