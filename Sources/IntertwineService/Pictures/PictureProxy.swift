internal import Crypto
internal import IntertwineEventLoop
internal import IntertwineFeed
internal import IntertwineFetch
internal import IntertwineImages
internal import IntertwinePrimitives
internal import IntertwineRouting
internal import Logging

/// The image proxy, composed: the loop it fetches on, its manager, and the routes in front.
///
/// A class: with the last who holds it, the loop goes.
final class PictureProxy: Sendable {
    let manager: ImageNetworkManager
    let signer: ImageURLSigner
    let links: PictureLinks
    let finished: FinishedPictures
    private let transfers: Transfers
    private let timeLimit: Duration

    init(
        configuration: ServiceConfiguration, keys: SigningKeys, logger: Logger = Logger(label: "intertwine")
    ) throws {
        let signer = try Self.signer(configuration: configuration, keys: keys)
        let transfers = Transfers(on: try EventLoop(label: "images"), policy: configuration.images.policy)
        var images = configuration.images.configuration(folder: configuration.store.path(of: "images"))
        images.logger = logger
        let manager = ImageNetworkManager(images, transfers: transfers)
        timeLimit = configuration.images.timeLimit
        self.transfers = transfers
        self.manager = manager
        self.signer = signer
        links = PictureLinks(signer: signer)
        finished = FinishedPictures(
            manager: manager, signer: signer, variesByOrigin: !configuration.crossOrigin.origins.isEmpty)
    }

    static func signer(configuration: ServiceConfiguration, keys: SigningKeys) throws(ConfigurationError) -> ImageURLSigner {
        let secrets = [keys.current, keys.previous].compactMap { $0?.derived(for: SigningPurpose(rawValue: "image")) }
        let hours = UInt32(clamping: configuration.images.lifetime.milliseconds / 3_600_000)
        let rotation = UInt32(clamping: configuration.images.rotation.milliseconds / 3_600_000)
        let bytes = secrets.map { $0.withUnsafeBytes { Array($0) } }
        guard let signer = ImageURLSigner(keys: bytes, horizonHours: hours, rotationHours: rotation) else {
            throw ConfigurationError("signing.key: cannot be used for image URLs")
        }
        return signer
    }

    var routes: [Route] {
        ImageRoutes(manager: manager, signer: signer, finished: finished, timeLimit: timeLimit).routes
    }

    deinit {
        transfers.loop.stop()
    }

    /// Gives up all downloads, and the loop.
    func shutDown() async {
        await manager.shutDown()
        await transfers.shutDown()
        transfers.loop.stop()
    }
}
