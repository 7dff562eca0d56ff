import Feed
import Foundation
import Storage

// Imports a file, and says how far it is: `StorageVictim import DATABASE FILE`.
let arguments = CommandLine.arguments
if arguments.count == 4, arguments[1] == "import", let file = FileHandle(forReadingAtPath: arguments[3]) {
    let start = ContinuousClock.now
    let session = try ItemImport(into: arguments[2], policy: .skip) { print("skipped:", $0) }
    try session.add(contentsOf: file.fileDescriptor) { print("items", $0.items) }
    let summary = try session.commit()
    print("done", summary.added, summary.replaced, summary.skipped, ContinuousClock.now - start)
}
