internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwineStorage

/// What the parts of the service are made with.
extension ServiceConfiguration {
    func signingKeys() throws -> SigningKeys {
        let current = try SigningKey(hexadecimal: signing.key) ?? SigningKeyFile(path: store.path(of: "signing.key")).load()
        return SigningKeys(current: current, previous: SigningKey(hexadecimal: signing.previousKey))
    }

    var cells: CellConfiguration {
        var cells = CellConfiguration(hasViewers: !events.viewerHeader.isEmpty)
        cells.userCells = [.regular: feed.regularUserCell, .featured: feed.featuredUserCell]
        cells.userCommands[.selection] = SlotCommands(actions.userSelection, policy: actions.onFailure)
        cells.userCommands[.dismissal] = SlotCommands(actions.userDismissal, policy: actions.onFailure)
        cells.advertisementCommands[.selection] = SlotCommands(actions.advertisementSelection, policy: actions.onFailure)
        cells.advertisementCommands[.dismissal] = SlotCommands(actions.advertisementDismissal, policy: actions.onFailure)
        return cells
    }

    var publicServer: HTTPServerConfiguration {
        var server = limited
        server.host = self.server.host
        server.port = UInt16(clamping: self.server.port)
        return server
    }

    var adminServer: HTTPServerConfiguration {
        var server = limited
        server.host = admin.host
        server.port = UInt16(clamping: admin.port)
        server.loops = 1
        // Imports are long; how slowly they may come in is bounded by the rate.
        server.bodyTimeout = max(server.bodyTimeout, admin.importDeadline)
        return server
    }

    private var limited: HTTPServerConfiguration {
        let limits = server.limits
        var server = HTTPServerConfiguration()
        server.requestLineLimit = limits.requestLine.bytes
        server.fieldBlockLimit = limits.header.bytes
        server.fieldLimit = limits.fields
        server.bodyLimit = limits.body.bytes
        server.bodiesLimit = limits.bodies.bytes
        server.chunkExtensionLimit = limits.chunkExtensions.bytes
        server.trailerLimit = limits.trailers.bytes
        server.headTimeout = limits.headerDeadline
        server.bodyTimeout = limits.bodyDeadline
        server.minimumBodyRate = limits.bodyRate.bytes
        server.minimumWriteRate = limits.writeRate.bytes
        server.idleTimeout = limits.idle
        server.writeTimeout = limits.writeStall
        server.handlerTimeout = limits.handler
        server.requestsPerConnection = limits.requestsPerConnection
        server.connectionAge = limits.connectionAge
        server.connectionLimit = limits.connections
        server.connectionsPerPeer = limits.connectionsPerPeer
        server.outputHighWater = limits.output.bytes
        return server
    }
}

extension FeedSettings {
    var placement: any AdPlacement {
        switch adScope {
        case .page: MidpointPlacement(scope: .page(advertisements: adsPerPage))
        case .feed: MidpointPlacement(scope: .feed)
        }
    }
}
