internal import CEmbeddedFiles

/// A file of the folder `files`, which is in the program, so that the service is a single file.
struct WebClientFile: Sendable {
    let name: String
    let contentType: String
    let bytes: [UInt8]

    private init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
        contentType =
            switch name.suffix(from: name.lastIndex(of: ".") ?? name.endIndex) {
            case ".html": "text/html; charset=utf-8"
            case ".css": "text/css; charset=utf-8"
            case ".svg": "image/svg+xml"
            default: "text/javascript; charset=utf-8"
            }
    }

    static let all: [WebClientFile] = {
        var files: [WebClientFile] = []
        var file = EmbeddedFile()
        while webClientFile(Int32(files.count), &file) {
            let bytes = UnsafeBufferPointer(start: file.bytes, count: Int(file.size))
            files.append(WebClientFile(name: String(cString: file.name), bytes: Array(bytes)))
        }
        return files
    }()

    var isOfOperators: Bool {
        ["console/", "explain/", "items/", "reports/"].contains { name.hasPrefix($0) }
    }
}
