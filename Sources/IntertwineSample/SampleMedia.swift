package enum SampleMedia {
    package struct File: Sendable {
        package let name: String
        package let mediaType: String
        package let bytes: [UInt8]
    }

    package static let files = [
        File(name: "bakery.mp4", mediaType: "video/mp4", bytes: SampleFiles.all["media/bakery.mp4", default: []]),
        File(name: "library.mp3", mediaType: "audio/mpeg", bytes: SampleFiles.all["media/library.mp3", default: []]),
    ]
}
