internal import IntertwineDeclarations

/// The keys of earlier versions, with their present names. An earlier key stops the start.
enum RenamedSettings {
    static let names: [String: String] = [
        "actions.advertisement.dismissal": "actions.ad.dismissal",
        "actions.advertisement.selection": "actions.ad.selection",
        "actions.undo": "actions.undo-window",
        "admin.import-deadline": "admin.import-timeout",
        "admin.import-limit": "admin.max-import",
        "ads.attributes-header": "viewers.attributes-header",
        "ads.campaigns": "campaigns.file",
        "ads.label-distance": "ads.min-label-distance",
        "ads.reservation": "campaigns.reservation-timeout",
        "ads.viewable.audio": "ads.viewability.audio",
        "ads.viewable.image": "ads.viewability.image",
        "ads.viewable.video": "ads.viewability.video",
        "cells.advertisement.audio.height": "cells.ad.audio.height",
        "cells.advertisement.audio.identifier": "cells.ad.audio.identifier",
        "cells.advertisement.audio.table-height": "cells.ad.audio.table-height",
        "cells.advertisement.audio.table-identifier": "cells.ad.audio.table-identifier",
        "cells.advertisement.audio.width": "cells.ad.audio.width",
        "cells.advertisement.video.height": "cells.ad.video.height",
        "cells.advertisement.video.identifier": "cells.ad.video.identifier",
        "cells.advertisement.video.table-height": "cells.ad.video.table-height",
        "cells.advertisement.video.table-identifier": "cells.ad.video.table-identifier",
        "cells.advertisement.video.width": "cells.ad.video.width",
        "events.rate": "events.click-rate",
        "events.tell-verdict": "events.report-verdict",
        "events.trust-forwarded": "server.trusted-proxies",
        "events.viewer-header": "viewers.header",
        "events.window": "events.click-window",
        "feed.cache": "feed.page-cache",
        "feed.cells": "feed.cell-cache",
        "feed.kinds": "kinds.file",
        "feed.language-header": "viewers.language-header",
        "feed.stale": "feed.max-staleness",
        "images.deadline": "images.fetch-timeout",
        "images.disk": "images.disk-cache",
        "images.grace": "images.abandon-delay",
        "images.head-timeout": "images.header-timeout",
        "images.known": "images.metadata-entries",
        "images.lifetime": "images.url-lifetime",
        "images.memory": "images.memory-cache",
        "images.patience": "images.queue-timeout",
        "images.redirects": "images.max-redirects",
        "images.rotation": "images.url-rotation",
        "images.shortest": "images.min-ttl",
        "images.size": "images.max-source-size",
        "images.warm-ahead": "images.prefetch-percent",
        "images.worker": "images.worker-program",
        "ledger.group": "ledger.batch-size",
        "ledger.patience": "ledger.write-timeout",
        "limits.bodies": "limits.total-body-bytes",
        "limits.body": "limits.max-body",
        "limits.body-deadline": "limits.body-timeout",
        "limits.body-rate": "limits.min-body-rate",
        "limits.chunk-extensions": "limits.max-chunk-extensions",
        "limits.connection-age": "limits.max-connection-age",
        "limits.fields": "limits.header-fields",
        "limits.handler": "limits.request-timeout",
        "limits.header": "limits.max-header",
        "limits.header-deadline": "limits.header-timeout",
        "limits.idle": "limits.keep-alive-timeout",
        "limits.listeners": "limits.event-streams",
        "limits.output": "limits.output-buffer",
        "limits.request-line": "limits.max-request-line",
        "limits.trailers": "limits.max-trailers",
        "limits.write-stall": "limits.write-timeout",
        "server.drain": "server.shutdown-delay",
        "server.grace": "server.shutdown-timeout",
        "store.folder": "server.data-folder",
        "store.patience": "store.queue-timeout",
        "trackers.attempts": "trackers.max-attempts",
        "trackers.waiting": "trackers.max-pending",
        "viewer.enabled": "web-client.enabled",
    ]

    private static let variables: [String: String] = Dictionary(
        uniqueKeysWithValues: names.map { (SettingName($0).environmentVariable, SettingName($1).environmentVariable) })

    /// Returns the error for a key of a file or flag; nil if the key was not renamed.
    static func error(for key: SettingName, spelled: String, from origin: SettingOrigin) -> ConfigurationError? {
        names[key.key].map { ConfigurationError("\(spelled): was renamed (\(origin)); write \($0)") }
    }

    /// Returns the error for an environment variable; nil if its key was not renamed.
    static func error(for variable: String) -> ConfigurationError? {
        variables[variable].map { ConfigurationError("\(variable): was renamed (\(SettingOrigin.environment)); write \($0)") }
    }
}
