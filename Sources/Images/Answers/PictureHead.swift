/// What is known of a picture before its body is there.
struct PictureHead: Sendable {
    let kind: MediaKind
    let length: Int?
    /// Nil where the origin forbids storing it.
    var freshness: Freshness?
    let validators: CachedImage.Validators
    let terms: CachedImage.Terms
    /// Whether the end of the body can be told from a lost connection.
    let isDelimited: Bool
}
