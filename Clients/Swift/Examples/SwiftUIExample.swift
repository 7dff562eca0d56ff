#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
    import IntertwineClient
    import IntertwineUI
    import SwiftUI

    /// A feed on a screen. Gestures, updates, ads and impressions need no further code.
    struct PeopleView: View {
        let client: FeedClient

        var body: some View {
            FeedView(client: client) { views in
                views.register("UserTableViewCell", "CircularUserTableViewCell") { cell in
                    HStack {
                        FeedImage(cell, "avatar").frame(width: 60, height: 60)
                        Text(cell.bindings["username"]?.text ?? "")
                    }
                }
                views.register("AdvertisementTableViewCell") { FeedImage($0, "content") }
            }
        }
    }
#endif
