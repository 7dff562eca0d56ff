internal import Foundation
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwineImages
internal import IntertwinePrimitives
internal import IntertwineSample
internal import IntertwineStorage
internal import Logging

/// The image proxy: its fetch loop, its network manager and its routes.
/// A class, because the loop ends with the last reference to it.
final class ImageProxy: Sendable {
    let manager: ImageNetworkManager
    private let signer: ImageURLSigner
    let links: ImageLinks
    let known: ImageMetadataTable?
    let responseCache: ImageResponseCache
    let takedowns: TakedownImageFilter
    let prefetcher: ImagePrefetcher?
    private let workers: ImageWorkers
    private let transfers: CurlClient
    private let timeLimit: Duration

    init(
        _ settings: ImageSettings, signer: ImageURLSigner, folder: String, userAgent: String? = nil, store: (any ItemStore)? = nil,
        clock: @escaping @Sendable () -> Int64, logger: Logger
    )
        throws
    {
        let transfers = CurlClient(on: try EventLoop(label: "images"), policy: settings.policy, userAgent: userAgent)
        var images = settings.configuration(folder: folder)
        images.logger = logger
        images.clock = { clock() / 1_000 }
        images.fallbacks = try settings.fallbackImages()
        images.bundled = { SampleImages.image(at: $0) }
        // The table is stored beside the images on disk, if there are any; the manager creates the folder.
        let facts = ImageMetadataTable(folder: images.folder, capacity: settings.metadataEntries)
        images.facts = facts
        var workerConfiguration = settings.workerConfiguration
        workerConfiguration.logger = logger
        workers = try ImageWorkers(workerConfiguration)
        images.transformer = workers
        let manager = ImageNetworkManager(images, transfers: transfers)
        // The queue timeout and the time of the workers are added.
        timeLimit = settings.timeLimit + workerConfiguration.queueTimeout + settings.workerTimeout
        self.transfers = transfers
        self.manager = manager
        self.signer = signer
        links = ImageLinks(signer: signer, parts: Set(images.fallbacks.keys))
        known = manager.resizesImages ? facts : nil
        takedowns = TakedownImageFilter(store)
        responseCache = ImageResponseCache(manager: manager, signer: signer, takedowns: takedowns)
        let share = settings.prefetchPercent
        prefetcher = share > 0 ? ImagePrefetcher(manager, signer: signer, share: share) { clock() / 1_000 } : nil
    }

    var routes: [Route] { routes(isForOperators: false) }

    func routes(isForOperators: Bool) -> [Route] {
        ImageRoutes(
            manager: manager, signer: signer, responseCache: responseCache, takedowns: takedowns, prefetcher: prefetcher,
            timeLimit: timeLimit, isForOperators: isForOperators
        ).routes
    }

    func useKeys(_ keys: SigningKeys) { _ = signer.use(keys: ImageSettings.secrets(keys)) }

    deinit {
        transfers.loop.stop()
    }

    func shutDown() async {
        prefetcher?.stop()
        await manager.shutDown()
        await workers.shutDown()
        known?.close()
        await transfers.shutDown()
        transfers.loop.stop()
    }
}

extension ImageMetadataTable: ImageMetadataStore {
    func placeholder(of source: String) -> ImagePlaceholder? {
        // An empty table needs no lookup.
        guard version > 0 else { return nil }
        let canonical = FetchURL.isPlain(source) ? source : (try? FetchURL(source))?.text
        guard let canonical, let facts = facts(of: canonical) else { return nil }
        return ImagePlaceholder(
            width: facts.width, height: facts.height, color: facts.color, placeholder: Data(facts.thumbHash).base64EncodedString())
    }
}

/// It has no cache, because the cells that contain hrefs are cached.
struct ImageLinks: Sendable {
    let signer: ImageURLSigner
    var parts: Set<String> = []

    func link(_ source: String, _ shape: ImageGeometry?, now: Int64) -> Links.ImageLink {
        let variant = shape.flatMap { shape in
            let part = shape.part.flatMap { parts.contains($0) ? $0 : nil }
            return ProcessingOptions(
                width: shape.box.width, height: shape.box.height, cut: TransformJob.Cut(shape.fit),
                fallback: part.flatMap { ImageFallback(part: $0) })
        }
        let scales = variant?.scales ?? []
        if FetchURL.isPlain(source) { return Links.ImageLink(signer.path(forUnencoded: source, variant, now: now / 1_000), scales: scales) }
        guard let url = try? FetchURL(source) else { return Links.ImageLink(source) }
        return Links.ImageLink(signer.path(for: url, variant, now: now / 1_000), scales: scales)
    }
}

extension TransformJob.Cut {
    fileprivate init(_ fit: ImageGeometry.Fit) {
        self =
            switch fit {
            case .fit: .fit
            case .fill(.centre): .centre
            case .fill(.attention): .attention
            case .fill(.point(let x, let y)): .point(x: Self.thousandths(x), y: Self.thousandths(y))
            }
    }

    private static func thousandths(_ share: Double) -> Int {
        share.isFinite ? Int((min(max(share, 0), 1) * 1_000).rounded()) : 500
    }
}

/// Image URLs for operators who inspect the output of the proxy.
package enum ImageAddress {
    package static func mint(_ source: String, configuration: ServiceConfiguration) throws -> String {
        guard let url = try? FetchURL(source) else { throw ConfigurationError("'\(source)' is not an absolute http or https URL") }
        do {
            try configuration.images.policy.check(url)
        } catch {
            throw ConfigurationError("'\(source)' is rejected: \(error.rawValue)")
        }
        if configuration.signing.key.isEmpty {
            let items = try configuration.store.items()
            guard items.isThere else {
                throw ConfigurationError(
                    "\(items.shown): no store exists, so there is no key for the signature; set store.database or signing.key")
            }
            // A path that is no store gets no key beside it either.
            _ = try items.isUpToDate()
        }
        let signer = try configuration.images.signer(try configuration.keyRing().keys)
        let path = signer.path(for: url, now: WallClock.now() / 1_000)
        return configuration.server.publicURL + path
    }
}
