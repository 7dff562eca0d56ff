// How the viewer shows cells: one renderer for each identifier that it was made for, and one for all others.
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
 * A renderer fills `content` with elements, once for each view, and answers its outlets:
 * `{ label, outlets: { username: element, avatar: element } }`. `label` is the element that names the cell to screen
 * readers; a binding goes to the outlet of its name, a text as text and a picture into a `.picture`. `role` is `header`, `row` or
 * `placeholder` where it is no card. One whose parts differ from cell to cell answers `outletsFor(cell)`.
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

/** The registry of all cells, whose views are made with these parts of the page (`CellView`). */
export function cellKinds(parts) {
  const kind = (renderer) => ({
    make: (identifier) => new CellView({ identifier, renderer, ...parts }),
    bind: (view, _, entry, frame) => view.show(entry, frame),
    prepareForReuse: (view) => view.prepareForReuse(),
  });
  const registry = new CellRegistry({ fallback: kind(genericCell) });
  for (const [identifier, renderer] of Object.entries(renderers)) registry.register(identifier, kind(renderer));
  return registry;
}
