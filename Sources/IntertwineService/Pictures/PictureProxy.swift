internal import IntertwineDeclarations
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
    /// Resizes pictures, where it is available.
    let workers: PictureWorkers
    private let transfers: Transfers
    private let timeLimit: Duration

    /// - Parameters:
    ///   - folder: where pictures are kept on disk.
    ///   - variesByOrigin: whether answers differ by the request's origin.
    ///   - clock: milliseconds since 1970-01-01 UTC.
    init(
        _ settings: ImageSettings, signer: ImageURLSigner, folder: String, variesByOrigin: Bool, clock: @escaping @Sendable () -> Int64,
        logger: Logger
    )
        throws
    {
        let transfers = Transfers(on: try EventLoop(label: "images"), policy: settings.policy)
        var images = settings.configuration(folder: folder)
        images.logger = logger
        images.clock = { clock() / 1_000 }
        let manager = ImageNetworkManager(images, transfers: transfers)
        timeLimit = settings.timeLimit
        var workers = settings.workerConfiguration
        workers.logger = logger
        self.workers = try PictureWorkers(workers)
        self.transfers = transfers
        self.manager = manager
        self.signer = signer
        links = PictureLinks(signer: signer)
        finished = FinishedPictures(
            manager: manager, signer: signer, variesByOrigin: variesByOrigin)
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
        await workers.shutDown()
        await transfers.shutDown()
        transfers.loop.stop()
    }
}

/// Mints the hrefs of pictures. They are not remembered here: the cells that show them are.
struct PictureLinks: Sendable {
    let signer: ImageURLSigner

    /// The href of a picture; the source itself, which no proxy of ours will fetch, where it is no URL that could be signed.
    ///
    /// - Parameters:
    ///   - shape: nil for the original, which is also what a box gets that is too large for any picture.
    ///   - now: milliseconds since 1970-01-01 UTC.
    func link(_ source: String, _ shape: PictureShape?, now: Int64) -> Links.ImageLink {
        let variant = shape.flatMap { PictureVariant(width: $0.box.width, height: $0.box.height, fit: PictureRecipe.Fit($0.fit)) }
        let scales = variant?.scales ?? []
        if FetchURL.isPlain(source) { return Links.ImageLink(signer.path(forPlain: source, variant, now: now / 1_000), scales: scales) }
        guard let url = try? FetchURL(source) else { return Links.ImageLink(source) }
        return Links.ImageLink(signer.path(for: url, variant, now: now / 1_000), scales: scales)
    }
}

extension PictureRecipe.Fit {
    fileprivate init(_ fit: PictureShape.Fit) {
        self =
            switch fit {
            case .fit: .fit
            case .fill(.centre): .fill(.centre)
            case .fill(.attention): .fill(.attention)
            case .fill(.point(let x, let y)): .fill(.point(x: x, y: y))
            }
    }
}

/// Image URLs for operators who want to see what the proxy makes of a picture.
public enum ImageAddress {
    /// The href under which the service with this configuration serves a picture.
    ///
    /// - Throws: `ConfigurationError` where the source is no URL that can be fetched, or the signing key cannot be read.
    public static func mint(_ source: String, configuration: ServiceConfiguration) throws -> String {
        let signer = try configuration.images.signer(try configuration.signingKeys())
        guard let url = try? FetchURL(source) else { throw ConfigurationError("'\(source)' is not an absolute http or https URL") }
        do {
            try configuration.images.policy.check(url)
        } catch {
            throw ConfigurationError("'\(source)' would be refused: \(error.rawValue)")
        }
        let path = signer.path(for: url, now: WallClock.now() / 1_000)
        return configuration.server.publicURL + path
    }
}
