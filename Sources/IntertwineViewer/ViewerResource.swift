/// One file of the page that shows the feed in a browser, as the service serves it.
///
/// The files lie beside this one and are compiled into the binary, so that the service stays a single file.
struct ViewerResource: Sendable {
    /// Absolute path, such as `/viewer/main.mjs`; the page itself is at `/`.
    let path: String
    let contentType: String
    let bytes: [UInt8]

    /// The `Content-Security-Policy` of every file, the modules included: a worker is held to that of its own script.
    static let contentSecurityPolicy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; \
        base-uri 'none'; form-action 'none'; frame-ancestors 'none'
        """

    /// All files of the page.
    ///
    /// - Parameter viewerHeader: the request field that names the viewer; the page sends it with each of its requests.
    static func all(viewerHeader: String) -> [ViewerResource] {
        [page(viewerHeader: viewerHeader)] + files
    }

    private static func page(viewerHeader: String) -> ViewerResource {
        // The page names the default; every other name is put in its place. A field name is a token (RFC 9110 section 5.6.2),
        // of whose characters only these two mean something in an attribute.
        let name = viewerHeader.split(separator: "&", omittingEmptySubsequences: false).joined(separator: "&amp;")
            .split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "&quot;")
        let markup = String(decoding: PackageResources.index_html, as: UTF8.self)
            .split(separator: #"name="viewer-header" content="X-Viewer-ID""#, omittingEmptySubsequences: false)
            .joined(separator: #"name="viewer-header" content="\#(name)""#)
        return ViewerResource(path: "/", contentType: "text/html; charset=utf-8", bytes: Array(markup.utf8))
    }

    /// Everything that the page asks for by name.
    private static let files: [ViewerResource] = [
        image("icon.svg", PackageResources.icon_svg),
        style("cells.css", PackageResources.cells_css),
        style("overlays.css", PackageResources.overlays_css),
        style("page.css", PackageResources.page_css),
        module("actions-performer.mjs", PackageResources.actions_performer_mjs),
        module("advertisement-cell.mjs", PackageResources.advertisement_cell_mjs),
        module("background-fetch-worker.mjs", PackageResources.background_fetch_worker_mjs),
        module("background-fetch.mjs", PackageResources.background_fetch_mjs),
        module("batch-update.mjs", PackageResources.batch_update_mjs),
        module("bindings.mjs", PackageResources.bindings_mjs),
        module("cell-menu.mjs", PackageResources.cell_menu_mjs),
        module("cell-registry.mjs", PackageResources.cell_registry_mjs),
        module("cell-view.mjs", PackageResources.cell_view_mjs),
        module("circular-user-cell.mjs", PackageResources.circular_user_cell_mjs),
        module("client.mjs", PackageResources.client_mjs),
        module("collection-layout.mjs", PackageResources.collection_layout_mjs),
        module("collection-view.mjs", PackageResources.collection_view_mjs),
        module("connection-banner.mjs", PackageResources.connection_banner_mjs),
        module("connection.mjs", PackageResources.connection_mjs),
        module("elements.mjs", PackageResources.elements_mjs),
        module("feed-changes.mjs", PackageResources.feed_changes_mjs),
        module("feed-filler.mjs", PackageResources.feed_filler_mjs),
        module("feed-list.mjs", PackageResources.feed_list_mjs),
        module("feed-pages.mjs", PackageResources.feed_pages_mjs),
        module("generic-cell.mjs", PackageResources.generic_cell_mjs),
        module("image-requests.mjs", PackageResources.image_requests_mjs),
        module("image-zoom.mjs", PackageResources.image_zoom_mjs),
        module("impressions.mjs", PackageResources.impressions_mjs),
        module("inspector.mjs", PackageResources.inspector_mjs),
        module("interactions.mjs", PackageResources.interactions_mjs),
        module("journal.mjs", PackageResources.journal_mjs),
        module("keyboard.mjs", PackageResources.keyboard_mjs),
        module("main.mjs", PackageResources.main_mjs),
        module("picture-store.mjs", PackageResources.picture_store_mjs),
        module("placeholder-cell.mjs", PackageResources.placeholder_cell_mjs),
        module("position.mjs", PackageResources.position_mjs),
        module("reuse-queue.mjs", PackageResources.reuse_queue_mjs),
        module("section-header-cell.mjs", PackageResources.section_header_cell_mjs),
        module("table-cells.mjs", PackageResources.table_cells_mjs),
        module("toast.mjs", PackageResources.toast_mjs),
        module("undo-stack.mjs", PackageResources.undo_stack_mjs),
        module("user-snapshot-cell.mjs", PackageResources.user_snapshot_cell_mjs),
        module("view-options.mjs", PackageResources.view_options_mjs),
        module("view-panel.mjs", PackageResources.view_panel_mjs),
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
