package enum WorkerMessage: Sendable, Hashable {
    case hello(WorkerReport)
    case done(id: UInt32, TransformResult)
    case failed(id: UInt32, TransformRejection)

    package var frame: [UInt8] {
        switch self {
        case .hello(let report):
            var writer = WireWriter(.hello)
            writer.byte(WorkerReport.version)
            writer.byte(report.hasSeccomp ? 1 : 0)
            writer.byte(UInt8(clamping: report.landlock))
            writer.byte(report.hasLimits ? 1 : 0)
            writer.append(report.library.utf8)
            return writer.encodedBytes
        case .done(let id, let result):
            return Self.head(id, result, before: result.bytes.count) + result.bytes
        case .failed(let id, let refusal):
            var writer = WireWriter(.failed)
            writer.word(id)
            writer.byte(refusal.rawValue)
            return writer.encodedBytes
        }
    }

    package static func head(_ id: UInt32, _ result: TransformResult, before count: Int) -> [UInt8] {
        var writer = WireWriter(.done, following: count)
        writer.word(id)
        for number in [result.width, result.height, result.originalWidth, result.originalHeight, result.frames] {
            writer.word(UInt32(clamping: number))
        }
        writer.byte((result.hasAlpha ? 1 : 0) | (result.isPart ? 2 : 0))
        writer.append([result.color.red, result.color.green, result.color.blue])
        writer.byte(UInt8(clamping: result.thumbHash.count))
        writer.append(result.thumbHash.prefix(255))
        return writer.encodedBytes
    }

    package init?(_ type: WireFrame, _ body: UnsafeRawBufferPointer) {
        var reader = WireReader(body)
        switch type {
        case .hello:
            guard reader.byte() == WorkerReport.version, let seccomp = reader.byte(), let landlock = reader.byte(),
                let limits = reader.byte(), reader.remaining.count <= 32, reader.remaining.allSatisfy({ (0x20...0x7e).contains($0) })
            else { return nil }
            self = .hello(
                WorkerReport(
                    hasSeccomp: seccomp == 1, landlock: Int(landlock), hasLimits: limits == 1,
                    library: String(decoding: reader.remaining, as: UTF8.self)))
        case .done:
            guard let id = reader.word(), let result = TransformResult(&reader) else { return nil }
            self = .done(id: id, result)
        case .failed:
            guard let id = reader.word(), let refusal = reader.byte().flatMap(TransformRejection.init(rawValue:)), reader.remaining.isEmpty
            else { return nil }
            self = .failed(id: id, refusal)
        case .job, .cancel: return nil
        }
    }
}

package struct WorkerReport: Sendable, Hashable {
    static let version: UInt8 = 1

    package var hasSeccomp: Bool
    /// The version of Landlock; 0 if the kernel does not support it.
    package var landlock: Int
    package var hasLimits: Bool
    package var library: String

    package init(hasSeccomp: Bool, landlock: Int, hasLimits: Bool, library: String) {
        self.hasSeccomp = hasSeccomp
        self.landlock = landlock
        self.hasLimits = hasLimits
        self.library = library
    }
}

package struct TransformResult: Sendable, Hashable {
    package struct Color: Sendable, Hashable {
        package var red: UInt8
        package var green: UInt8
        package var blue: UInt8

        package init(red: UInt8, green: UInt8, blue: UInt8) {
            self.red = red
            self.green = green
            self.blue = blue
        }
    }

    static let longestThumbHash = 40

    package var width: Int
    package var height: Int
    package var originalWidth: Int
    package var originalHeight: Int
    package var frames: Int
    package var hasAlpha: Bool
    package var color: Color
    package var thumbHash: [UInt8]
    /// True if the image is damaged, and this is what could be decoded of it.
    package var isPart: Bool
    package var bytes: [UInt8]

    package init(
        width: Int, height: Int, originalWidth: Int, originalHeight: Int, frames: Int, hasAlpha: Bool, color: Color, thumbHash: [UInt8],
        isPart: Bool = false, bytes: [UInt8] = []
    ) {
        self.width = width
        self.height = height
        self.originalWidth = originalWidth
        self.originalHeight = originalHeight
        self.frames = frames
        self.hasAlpha = hasAlpha
        self.color = color
        self.thumbHash = thumbHash
        self.isPart = isPart
        self.bytes = bytes
    }

    fileprivate init?(_ reader: inout WireReader) {
        guard let width = reader.word(), let height = reader.word(), let originalWidth = reader.word(), let originalHeight = reader.word(),
            let frames = reader.word(), let flags = reader.byte(), let red = reader.byte(), let green = reader.byte(),
            let blue = reader.byte(), let count = reader.byte(), count <= Self.longestThumbHash, let thumbHash = reader.bytes(Int(count)),
            originalWidth > 0, originalHeight > 0
        else { return nil }
        self.init(
            width: Int(width), height: Int(height), originalWidth: Int(originalWidth), originalHeight: Int(originalHeight),
            frames: Int(frames), hasAlpha: flags & 1 != 0, color: Color(red: red, green: green, blue: blue), thumbHash: thumbHash,
            isPart: flags & 2 != 0, bytes: Array(reader.remaining))
    }
}

package enum TransformRejection: UInt8, Error, Sendable {
    case undecodable = 1
    case tooManyPixels = 2
    case cancelled = 3
    case unencodable = 4
    case unsupported = 5
}
