internal import IntertwineFetch
internal import IntertwineImages

extension PicturePlace {
    static let allowed =
        "URLs ending in a slash and where their pictures lie, such as 'https://pictures.example.com/ folder:/srv/pictures' or "
        + "'https://media.example.com/ s3:https://s3.eu-central-1.amazonaws.com/bucket/ region=eu-central-1'"

    /// Reads an element of `images.sources`.
    init?(setting: String, credentials: S3Bucket.Credentials?) {
        let words = setting.split(separator: " ").map(String.init)
        guard words.count >= 2, let prefix = try? FetchURL(words[0]) else { return nil }
        let store: Store
        if let path = words[1].suffix(behind: "folder:"), words.count == 2, let folder = ConfinedFolder(path) {
            store = .folder(folder)
        } else if let text = words[1].suffix(behind: "s3:"), text.hasSuffix("/"), words.count <= 3, let endpoint = try? FetchURL(text) {
            guard let region = words.count == 3 ? words[2].suffix(behind: "region=") : "us-east-1", !region.isEmpty else { return nil }
            store = .bucket(S3Bucket(endpoint: endpoint, region: region, credentials: credentials))
        } else {
            return nil
        }
        self.init(prefix: prefix, store: store)
    }
}

extension S3Bucket.Credentials {
    /// Under the names that all tools for S3 know; nil where they are not set, and buckets are asked as anybody.
    init?(environment: [String: String]) {
        guard let key = environment["AWS_ACCESS_KEY_ID"], let secret = environment["AWS_SECRET_ACCESS_KEY"], !key.isEmpty, !secret.isEmpty
        else { return nil }
        self.init(accessKey: key, secret: secret, token: environment["AWS_SESSION_TOKEN"])
    }
}

extension String {
    fileprivate func suffix(behind prefix: String) -> String? {
        hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
    }
}
