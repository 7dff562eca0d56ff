internal import CEmbeddedFiles

enum SampleFiles {
    static let all: [String: [UInt8]] = {
        var files: [String: [UInt8]] = [:]
        var file = EmbeddedFile()
        while sampleFile(Int32(files.count), &file) {
            files[String(cString: file.name)] = Array(UnsafeBufferPointer(start: file.bytes, count: Int(file.size)))
        }
        return files
    }()
}
