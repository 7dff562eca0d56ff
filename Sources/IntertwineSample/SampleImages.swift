/// The images of the sample feed, in the binary: every cell of it is shown whole, without a network and without an allowance for one.
package enum SampleImages {
    /// The origin of the images in the sample feed. No such host exists (RFC 6761 section 6.4).
    package static let origin = "http://pictures.sample.invalid"

    /// The origin with the scheme of most image URLs, such as those of the tutorial.
    private static let secureOrigin = "https://pictures.sample.invalid"

    /// The bytes of a PNG by its URL; nil for every URL that is not one of the sample's.
    package static func image(at url: String) -> [UInt8]? {
        images[url]
    }

    private static let images = SampleFiles.all.reduce(into: [String: [UInt8]]()) { images, file in
        let folder = "images/"
        guard file.key.hasPrefix(folder) else { return }
        for origin in [origin, secureOrigin] { images["\(origin)/\(file.key.dropFirst(folder.count))"] = file.value }
    }
}
