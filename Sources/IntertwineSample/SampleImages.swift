/// The images of the sample feed, in the binary: every cell of it is shown whole, without a network and without a permission for one.
package enum SampleImages {
    /// No such host exists (RFC 6761 section 6.4).
    package static let origin = "http://pictures.sample.invalid"

    private static let secureOrigin = "https://pictures.sample.invalid"

    package static func image(at url: String) -> [UInt8]? {
        images[url]
    }

    private static let images = SampleFiles.all.reduce(into: [String: [UInt8]]()) { images, file in
        let folder = "images/"
        guard file.key.hasPrefix(folder) else { return }
        for origin in [origin, secureOrigin] { images["\(origin)/\(file.key.dropFirst(folder.count))"] = file.value }
    }
}
