/// A file of the web client, which shows a feed in a browser.
///
/// The files are in the folder of this source file and are compiled into the binary, so that the service is a single file.
struct WebClientResource: Sendable {
    /// The absolute path, such as `/web-client/main.mjs`; the page itself is at `/`.
    let path: String
    let contentType: String
    let bytes: [UInt8]

    /// The `Content-Security-Policy` of every file. Modules have it too, because the policy of a worker is that of its own script.
    static let contentSecurityPolicy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; media-src 'self' https: http:; connect-src 'self'; \
        frame-src http: https:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'
        """

    /// Returns all files of the web client.
    ///
    /// - Parameter viewerHeader: The request field that names the viewer, which the web client sends with each request.
    static func all(viewerHeader: String) -> [WebClientResource] {
        [
            page("/", PackageResources.index_html, viewerHeader),
            page("/web-client/playground.html", PackageResources.playground_html, viewerHeader),
        ] + files
    }

    private static func page(_ path: String, _ bytes: [UInt8], _ viewerHeader: String) -> WebClientResource {
        // The page contains the default name, which is replaced by the configured one. A field name is a token (RFC 9110 section 5.6.2), and only
        // these two of its characters have a meaning in an attribute.
        let name = viewerHeader.split(separator: "&", omittingEmptySubsequences: false).joined(separator: "&amp;")
            .split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "&quot;")
        let markup = String(decoding: bytes, as: UTF8.self)
            .split(separator: #"name="viewer-header" content="X-Viewer-ID""#, omittingEmptySubsequences: false)
            .joined(separator: #"name="viewer-header" content="\#(name)""#)
        return WebClientResource(path: path, contentType: "text/html; charset=utf-8", bytes: Array(markup.utf8))
    }

    /// The files that the page requests by name.
    private static let files: [WebClientResource] = [
        module("background-fetch-worker.mjs", PackageResources.background_fetch_worker_mjs),
        module("background-fetch.mjs", PackageResources.background_fetch_mjs),
        image("icon.svg", PackageResources.icon_svg),
        module("inspector.mjs", PackageResources.inspector_mjs),
        module("main.mjs", PackageResources.main_mjs),
        style("overlays.css", PackageResources.overlays_css),
        style("page.css", PackageResources.page_css),
        style("playground.css", PackageResources.playground_css),
        module("playground.mjs", PackageResources.playground_mjs),
        module("playground-sample.mjs", PackageResources.playground_sample_mjs),
        style("reference.css", PackageResources.reference_css),
        document("reference.html", PackageResources.reference_html),
        module("reference.mjs", PackageResources.reference_mjs),
        module("request-log.mjs", PackageResources.request_log_mjs),
        module("scroll-position.mjs", PackageResources.scroll_position_mjs),
        module("tabs.mjs", PackageResources.tabs_mjs),
        module("view-options.mjs", PackageResources.view_options_mjs),
        module("view-panel.mjs", PackageResources.view_panel_mjs),
        module("client/abort-scope.mjs", PackageResources.abort_scope_mjs),
        module("client/actions.mjs", PackageResources.actions_mjs),
        module("client/backoff.mjs", PackageResources.backoff_mjs),
        module("client/batch-update.mjs", PackageResources.batch_update_mjs),
        module("client/bindings.mjs", PackageResources.bindings_mjs),
        module("client/cell-registry.mjs", PackageResources.cell_registry_mjs),
        module("client/connection.mjs", PackageResources.connection_mjs),
        module("client/decode-image.mjs", PackageResources.decode_image_mjs),
        module("client/detail-event.mjs", PackageResources.detail_event_mjs),
        module("client/event-stream.mjs", PackageResources.event_stream_mjs),
        module("client/feed-client.mjs", PackageResources.feed_client_mjs),
        module("client/feed-list.mjs", PackageResources.feed_list_mjs),
        module("client/feed-pages.mjs", PackageResources.feed_pages_mjs),
        module("client/feed-updates.mjs", PackageResources.feed_updates_mjs),
        module("client/image-cache.mjs", PackageResources.image_cache_mjs),
        module("client/image-loader.mjs", PackageResources.image_loader_mjs),
        module("client/impressions.mjs", PackageResources.impressions_mjs),
        module("client/index.mjs", PackageResources.index_mjs),
        module("client/outbox.mjs", PackageResources.outbox_mjs),
        module("client/page.mjs", PackageResources.page_mjs),
        module("client/placeholder.mjs", PackageResources.placeholder_mjs),
        module("client/responses.mjs", PackageResources.responses_mjs),
        module("client/uuid.mjs", PackageResources.uuid_mjs),
        module("client/viewport-observer.mjs", PackageResources.viewport_observer_mjs),
        module("client/element/binding-elements.mjs", PackageResources.binding_elements_mjs),
        module("client/element/cell-kinds.mjs", PackageResources.cell_kinds_mjs),
        module("client/element/cell-menu.mjs", PackageResources.cell_menu_mjs),
        module("client/element/cell-view.mjs", PackageResources.cell_view_mjs),
        module("client/element/collection-layout.mjs", PackageResources.collection_layout_mjs),
        module("client/element/collection-view.mjs", PackageResources.collection_view_mjs),
        module("client/element/connection-banner.mjs", PackageResources.connection_banner_mjs),
        module("client/element/elements.mjs", PackageResources.elements_mjs),
        module("client/element/feed-loader.mjs", PackageResources.feed_loader_mjs),
        module("client/element/first-page.mjs", PackageResources.first_page_mjs),
        module("client/element/generic-cell.mjs", PackageResources.generic_cell_mjs),
        module("client/element/image-zoom.mjs", PackageResources.image_zoom_mjs),
        module("client/element/interactions.mjs", PackageResources.interactions_mjs),
        module("client/element/intertwine-feed.mjs", PackageResources.intertwine_feed_mjs),
        module("client/element/keyboard.mjs", PackageResources.keyboard_mjs),
        module("client/element/media-player.mjs", PackageResources.media_player_mjs),
        module("client/element/new-cells.mjs", PackageResources.new_cells_mjs),
        module("client/element/placeholder-image.mjs", PackageResources.placeholder_image_mjs),
        module("client/element/slot-form.mjs", PackageResources.slot_form_mjs),
        module("client/element/standard-cells.mjs", PackageResources.standard_cells_mjs),
        module("client/element/styles.mjs", PackageResources.styles_mjs),
        module("client/element/template-cell.mjs", PackageResources.template_cell_mjs),
        module("client/element/toast.mjs", PackageResources.toast_mjs),
        module("client/element/undo-stack.mjs", PackageResources.undo_stack_mjs),
        module("client/element/viewer-identity.mjs", PackageResources.viewer_identity_mjs),
        module("client/element/visible-cells.mjs", PackageResources.visible_cells_mjs),
    ]

    private static func module(_ name: String, _ bytes: [UInt8]) -> WebClientResource {
        WebClientResource(path: "/web-client/" + name, contentType: "text/javascript; charset=utf-8", bytes: bytes)
    }

    private static func style(_ name: String, _ bytes: [UInt8]) -> WebClientResource {
        WebClientResource(path: "/web-client/" + name, contentType: "text/css; charset=utf-8", bytes: bytes)
    }

    private static func document(_ name: String, _ bytes: [UInt8]) -> WebClientResource {
        WebClientResource(path: "/web-client/" + name, contentType: "text/html; charset=utf-8", bytes: bytes)
    }

    private static func image(_ name: String, _ bytes: [UInt8]) -> WebClientResource {
        WebClientResource(path: "/web-client/" + name, contentType: "image/svg+xml", bytes: bytes)
    }
}
