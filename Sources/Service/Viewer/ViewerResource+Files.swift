extension ViewerResource {
    /// Everything that the page asks for by name.
    static let files: [ViewerResource] = [
        image("icon.svg", PackageResources.icon_svg),
        style("cells.css", PackageResources.cells_css),
        style("overlays.css", PackageResources.overlays_css),
        style("page.css", PackageResources.page_css),
        module("actions-performer.mjs", PackageResources.actions_performer_mjs),
        module("advertisement-cell.mjs", PackageResources.advertisement_cell_mjs),
        module("background-fetch-worker.mjs", PackageResources.background_fetch_worker_mjs),
        module("background-fetch.mjs", PackageResources.background_fetch_mjs),
        module("cell-registry.mjs", PackageResources.cell_registry_mjs),
        module("cell-view.mjs", PackageResources.cell_view_mjs),
        module("circular-user-cell.mjs", PackageResources.circular_user_cell_mjs),
        module("client.mjs", PackageResources.client_mjs),
        module("connection-banner.mjs", PackageResources.connection_banner_mjs),
        module("connection.mjs", PackageResources.connection_mjs),
        module("elements.mjs", PackageResources.elements_mjs),
        module("feed-data-source.mjs", PackageResources.feed_data_source_mjs),
        module("feed-view.mjs", PackageResources.feed_view_mjs),
        module("image-requests.mjs", PackageResources.image_requests_mjs),
        module("image-zoom.mjs", PackageResources.image_zoom_mjs),
        module("impressions.mjs", PackageResources.impressions_mjs),
        module("inspector.mjs", PackageResources.inspector_mjs),
        module("interactions.mjs", PackageResources.interactions_mjs),
        module("journal.mjs", PackageResources.journal_mjs),
        module("keyboard.mjs", PackageResources.keyboard_mjs),
        module("main.mjs", PackageResources.main_mjs),
        module("placeholder-cell.mjs", PackageResources.placeholder_cell_mjs),
        module("section-header-cell.mjs", PackageResources.section_header_cell_mjs),
        module("toast.mjs", PackageResources.toast_mjs),
        module("user-snapshot-cell.mjs", PackageResources.user_snapshot_cell_mjs),
        module("viewer-identity.mjs", PackageResources.viewer_identity_mjs),
    ]

    private static func module(_ name: String, _ bytes: [UInt8]) -> ViewerResource {
        ViewerResource(path: "/viewer/" + name, contentType: "text/javascript; charset=utf-8", bytes: bytes)
    }

    private static func style(_ name: String, _ bytes: [UInt8]) -> ViewerResource {
        ViewerResource(path: "/viewer/" + name, contentType: "text/css; charset=utf-8", bytes: bytes)
    }

    private static func image(_ name: String, _ bytes: [UInt8]) -> ViewerResource {
        ViewerResource(path: "/viewer/" + name, contentType: "image/svg+xml", bytes: bytes)
    }
}
