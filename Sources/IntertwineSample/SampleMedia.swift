/// The media of the sample feed's video and audio ads, in the program as its images are.
public enum SampleMedia {
    /// A file that is played.
    public struct File: Sendable {
        public let name: String
        public let mediaType: String
        public let bytes: [UInt8]
    }

    /// Each stands in the sample at `SampleImages.origin` under its name.
    public static let files = [
        File(name: "bakery.mp4", mediaType: "video/mp4", bytes: SampleFiles.all["media/bakery.mp4", default: []]),
        File(name: "library.mp3", mediaType: "audio/mpeg", bytes: SampleFiles.all["media/library.mp3", default: []]),
    ]
}
