// The views for cells: one renderer for each supported identifier, and a generic one for all others.
import { CellRegistry } from "./client/index.mjs";
import { advertisementCell } from "./advertisement-cell.mjs";
import { CellView } from "./cell-view.mjs";
import { circularUserCell } from "./circular-user-cell.mjs";
import { genericCell } from "./generic-cell.mjs";
import { mediaAdvertisementCell } from "./media-cell.mjs";
import { sectionHeaderCell } from "./section-header-cell.mjs";
import { advertisementRow, userRow } from "./table-cells.mjs";
import { userSnapshotCell } from "./user-snapshot-cell.mjs";

/**
 * A renderer adds elements to `content`, once for each view, and returns its outlets: `{ label, outlets: { username: element, avatar:
 * element } }`. `label` is the element with the accessible name of the cell. A binding is shown in the outlet with its name: a text as
 * text, an image in an `.image`. `role` is `header`, `row` or `placeholder` for views that are not cards. A renderer whose parts differ by
 * cell returns `outletsFor(cell)`.
 */
const renderers = {
  UserSnapshotCollectionViewCell: userSnapshotCell,
  CircularUserCollectionViewCell: circularUserCell,
  AdvertisementCollectionViewCell: advertisementCell,
  AdvertisementVideoCollectionViewCell: mediaAdvertisementCell,
  AdvertisementAudioCollectionViewCell: mediaAdvertisementCell,
  SectionHeaderCollectionReusableView: sectionHeaderCell,
  UserTableViewCell: userRow,
  CircularUserTableViewCell: userRow,
  AdvertisementTableViewCell: advertisementRow,
  AdvertisementVideoTableViewCell: mediaAdvertisementCell,
  AdvertisementAudioTableViewCell: mediaAdvertisementCell,
  SectionHeaderTableViewHeaderFooterView: sectionHeaderCell,
};

/** Returns the registry of all cells. Its views are instances of `CellView` with the given parts of the page. */
export function makeRegistry(parts) {
  const registration = (renderer) => ({
    make: (identifier) => new CellView({ identifier, renderer, ...parts }),
    bind: (view, _, entry, frame) => view.show(entry, frame),
    prepareForReuse: (view) => view.prepareForReuse(),
  });
  const registry = new CellRegistry({ fallback: registration(genericCell) });
  for (const [identifier, renderer] of Object.entries(renderers)) registry.register(identifier, registration(renderer));
  return registry;
}
