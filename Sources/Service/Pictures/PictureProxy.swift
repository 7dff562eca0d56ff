internal import Crypto
internal import EventLoop
internal import Feed
internal import Fetch
internal import Images

/// The image proxy, composed: the loop it fetches on, its manager, and the routes in front.
struct PictureProxy: Sendable {
    let manager: ImageNetworkManager
    let signer: ImageURLSigner
    let links: PictureLinks
    let finished: FinishedPictures
    private let transfers: Transfers

    init(configuration: ServiceConfiguration, keys: SigningKeys) throws {
        let signer = try Self.signer(configuration: configuration, keys: keys)
        let transfers = Transfers(on: try EventLoop(label: "images"), policy: configuration.images.policy)
        let images = configuration.images.configuration(folder: configuration.store.path(of: "images"))
        let manager = try ImageNetworkManager(images, transfers: transfers)
        self.transfers = transfers
        self.manager = manager
        self.signer = signer
        links = PictureLinks(signer: signer)
        finished = FinishedPictures(manager: manager, variesByOrigin: !configuration.crossOrigin.origins.isEmpty)
    }

    static func signer(configuration: ServiceConfiguration, keys: SigningKeys) throws(ConfigurationError) -> ImageURLSigner {
        let secrets = [keys.current, keys.previous].compactMap { $0?.derived(for: SigningPurpose(rawValue: "image")) }
        let hours = UInt32(clamping: configuration.images.lifetime.milliseconds / 3_600_000)
        guard let signer = ImageURLSigner(keys: secrets.map { $0.withUnsafeBytes { Array($0) } }, horizonHours: hours) else {
            throw ConfigurationError("signing.key: cannot be used for image URLs")
        }
        return signer
    }

    var routes: [Route] {
        ImageRoutes(manager: manager, signer: signer, finished: finished).routes
    }

    /// Gives up all downloads.
    func shutDown() async {
        await manager.shutDown()
        await transfers.shutDown()
    }
}
