/// The images of the sample feed, in the binary: every cell of it is shown whole, without a network and without an allowance for one.
public enum SampleImages {
    /// Where the sample feed has them. No such host ever exists (RFC 6761 section 6.4), so nothing else can be meant.
    public static let origin = "http://pictures.sample.invalid"

    /// The origin with the scheme of most image URLs, such as those of the tutorial.
    private static let secureOrigin = "https://pictures.sample.invalid"

    /// The bytes of a PNG by its URL; nil for every URL that is not one of the sample's.
    public static func image(at url: String) -> [UInt8]? {
        images[url]
    }

    private static let images = Dictionary(
        uniqueKeysWithValues: files.flatMap { name, bytes in
            ["\(origin)/\(name).png", "\(secureOrigin)/\(name).png"].map { ($0, bytes) }
        })

    private static let files: [(String, [UInt8])] = [
        ("ad-0", PackageResources.ad_0_png),
        ("ad-1", PackageResources.ad_1_png),
        ("ad-2", PackageResources.ad_2_png),
        ("ad-3", PackageResources.ad_3_png),
        ("ad-4", PackageResources.ad_4_png),
        ("ad-5", PackageResources.ad_5_png),
        ("avatar-0", PackageResources.avatar_0_png),
        ("avatar-1", PackageResources.avatar_1_png),
        ("avatar-2", PackageResources.avatar_2_png),
        ("avatar-3", PackageResources.avatar_3_png),
        ("avatar-4", PackageResources.avatar_4_png),
        ("avatar-5", PackageResources.avatar_5_png),
        ("avatar-6", PackageResources.avatar_6_png),
        ("avatar-7", PackageResources.avatar_7_png),
        ("avatar-8", PackageResources.avatar_8_png),
        ("avatar-9", PackageResources.avatar_9_png),
        ("avatar-10", PackageResources.avatar_10_png),
        ("avatar-11", PackageResources.avatar_11_png),
        ("bakery", PackageResources.bakery_png),
        ("background-0", PackageResources.background_0_png),
        ("background-1", PackageResources.background_1_png),
        ("background-2", PackageResources.background_2_png),
        ("background-3", PackageResources.background_3_png),
        ("background-4", PackageResources.background_4_png),
        ("background-5", PackageResources.background_5_png),
    ]
}
