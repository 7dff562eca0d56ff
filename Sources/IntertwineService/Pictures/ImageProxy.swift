internal import Foundation
internal import IntertwineDeclarations
internal import IntertwineEventLoop
internal import IntertwineFeed
internal import IntertwineFetch
internal import IntertwineImages
internal import IntertwinePrimitives
internal import IntertwineRouting
internal import IntertwineSample
internal import IntertwineStorage
internal import Logging

/// The image proxy, composed: the loop it fetches on, its manager, and the routes in front.
///
/// A class: with the last who holds it, the loop goes.
final class ImageProxy: Sendable {
    let manager: ImageNetworkManager
    private let signer: ImageURLSigner
    let links: ImageLinks
    /// What pictures look like, where anything here finds that out.
    let known: ImageMetadataTable?
    let responseCache: ImageResponseCache
    let takedowns: TakedownImageFilter
    /// Makes pictures before they are asked for, where configuration gives it a share of the time.
    let prefetcher: ImagePrefetcher?
    /// Resizes pictures, where it is available.
    private let workers: ImageWorkers
    private let transfers: CurlClient
    private let timeLimit: Duration

    /// - Parameters:
    ///   - folder: where pictures are kept on disk.
    ///   - store: whose items may be taken down.
    ///   - variesByOrigin: whether answers differ by the request's origin.
    ///   - clock: milliseconds since 1970-01-01 UTC.
    init(
        _ settings: ImageSettings, signer: ImageURLSigner, folder: String, store: (any ItemStore)? = nil, variesByOrigin: Bool,
        clock: @escaping @Sendable () -> Int64, logger: Logger
    )
        throws
    {
        let transfers = CurlClient(on: try EventLoop(label: "images"), policy: settings.policy)
        var images = settings.configuration(folder: folder)
        images.logger = logger
        images.clock = { clock() / 1_000 }
        images.fallbacks = try settings.fallbackImages()
        images.bundled = { SamplePictures.picture(at: $0) }
        // Beside the pictures on disk, where there are any: the manager makes the folder.
        let facts = ImageMetadataTable(folder: images.folder, capacity: settings.known)
        images.facts = facts
        var workerConfiguration = settings.workerConfiguration
        workerConfiguration.logger = logger
        workers = try ImageWorkers(workerConfiguration)
        images.transformer = workers
        let manager = ImageNetworkManager(images, transfers: transfers)
        // The workers' queue, and their work, come on top.
        timeLimit = settings.timeLimit + workerConfiguration.queueTimeout + settings.workerTimeout
        self.transfers = transfers
        self.manager = manager
        self.signer = signer
        links = ImageLinks(signer: signer, parts: Set(images.fallbacks.keys))
        known = manager.makesSizes ? facts : nil
        takedowns = TakedownImageFilter(store)
        responseCache = ImageResponseCache(manager: manager, signer: signer, takedowns: takedowns, variesByOrigin: variesByOrigin)
        let share = settings.prefetchPages
        prefetcher = share > 0 ? ImagePrefetcher(manager, signer: signer, share: share) { clock() / 1_000 } : nil
    }

    /// - Parameter clients: tells the viewers that ask for pictures apart.
    func routes(_ clients: ClientReader) -> [Route] {
        ImageRoutes(
            manager: manager, signer: signer, responseCache: responseCache, takedowns: takedowns, prefetcher: prefetcher, clients: clients,
            timeLimit: timeLimit
        ).routes
    }

    /// Signs with other keys from now on.
    func useKeys(_ keys: SigningKeys) { _ = signer.use(keys: ImageSettings.secrets(keys)) }

    deinit {
        transfers.loop.stop()
    }

    /// Gives up all downloads, and the loop.
    func shutDown() async {
        prefetcher?.stop()
        await manager.shutDown()
        await workers.shutDown()
        await transfers.shutDown()
        transfers.loop.stop()
    }
}

/// What pictures look like, as cells tell it.
extension ImageMetadataTable: ImageMetadataStore {
    /// Items may write URLs in more than one way; pictures are known by the one in which they are asked for.
    func placeholder(of source: String) -> ImagePlaceholder? {
        // Where nothing was ever learnt, there is nothing to ask for.
        guard version > 0 else { return nil }
        let canonical = FetchURL.isPlain(source) ? source : (try? FetchURL(source))?.text
        guard let canonical, let facts = facts(of: canonical) else { return nil }
        return ImagePlaceholder(
            width: facts.width, height: facts.height, color: facts.color, placeholder: Data(facts.thumbHash).base64EncodedString())
    }
}

/// Mints the hrefs of pictures. They are not remembered here: the cells that show them are.
struct ImageLinks: Sendable {
    let signer: ImageURLSigner
    /// Those in whose place something is shown where they cannot be had.
    var parts: Set<String> = []

    /// The href of a picture; the source itself, which no proxy of ours will fetch, where it is no URL that could be signed.
    ///
    /// - Parameters:
    ///   - shape: nil for the original, which is also what a box gets that is too large for any picture.
    ///   - now: milliseconds since 1970-01-01 UTC.
    func link(_ source: String, _ shape: ImageGeometry?, now: Int64) -> Links.ImageLink {
        let variant = shape.flatMap { shape in
            let part = shape.part.flatMap { parts.contains($0) ? $0 : nil }
            return ProcessingOptions(
                width: shape.box.width, height: shape.box.height, fit: TransformSpec.Fit(shape.fit),
                fallback: part.flatMap { ImageFallback(part: $0, initials: shape.initials) })
        }
        let scales = variant?.scales ?? []
        if FetchURL.isPlain(source) { return Links.ImageLink(signer.path(forUnencoded: source, variant, now: now / 1_000), scales: scales) }
        guard let url = try? FetchURL(source) else { return Links.ImageLink(source) }
        return Links.ImageLink(signer.path(for: url, variant, now: now / 1_000), scales: scales)
    }
}

extension TransformSpec.Fit {
    fileprivate init(_ fit: ImageGeometry.Fit) {
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
    /// - Throws: `ConfigurationError` where the source is no URL that can be fetched, or the signing key cannot be read; where none is
    ///   configured and there is no store, whose key it would be, too.
    public static func mint(_ source: String, configuration: ServiceConfiguration) throws -> String {
        guard let url = try? FetchURL(source) else { throw ConfigurationError("'\(source)' is not an absolute http or https URL") }
        do {
            try configuration.images.policy.check(url)
        } catch {
            throw ConfigurationError("'\(source)' would be refused: \(error.rawValue)")
        }
        if configuration.signing.key.isEmpty {
            let items = try configuration.store.items()
            guard items.isThere else {
                throw ConfigurationError("\(items.shown): there is no store whose key could sign it; name one, or configure signing.key")
            }
            // What is no store gets no key beside it either.
            _ = try items.isUpToDate()
        }
        let signer = try configuration.images.signer(try configuration.keyRing().keys)
        let path = signer.path(for: url, now: WallClock.now() / 1_000)
        return configuration.server.publicURL + path
    }
}
