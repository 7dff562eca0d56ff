import Foundation
import IntertwineClient
import SwiftUI

/// A list of cells, which loads further pages at its end.
struct FeedView: View {
    @StateObject private var model: FeedModel

    init(server: URL) {
        _model = StateObject(wrappedValue: FeedModel(server: server))
    }

    var body: some View {
        VStack {
            if let message = model.message { Text(message) }
            List(model.rows) { row in
                CellView(cell: row.cell)
                    .task { if row.id == model.rows.last?.id { await model.loadNext() } }
            }
        }
        .task { await model.loadNext() }
    }
}

/// A cell, shown by its identifier.
struct CellView: View {
    let cell: FeedCell

    var body: some View {
        switch cell.identifier {
        case "UserSnapshotCollectionViewCell", "CircularUserCollectionViewCell":
            HStack {
                picture("avatar")
                Text(cell.bindings["username"]?.text ?? "")
            }
        case "AdvertisementCollectionViewCell":
            HStack {
                picture("content")
                Text("Advertisement")
            }
        default:
            Color.gray.frame(height: cell.size.height)
        }
    }

    private func picture(_ part: String) -> some View {
        let binding = cell.bindings[part]
        return AsyncImage(url: binding?.image(scale: 2)) { image in
            image.resizable().scaledToFit()
        } placeholder: {
            Color.gray
        }
        .frame(width: 80, height: 80)
        .accessibilityLabel(binding?.alternativeText ?? "")
    }
}
