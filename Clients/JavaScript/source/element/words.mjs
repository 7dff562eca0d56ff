// The element's own words, in English and German. Those of cells come from the service.

const english = {
  advertisement: "Advertisement", cancel: "Cancel", cell: "Cell", cellSaved: "Saved", choose: "Choose…", close: "Close", connecting: "Connecting…",
  connection: "Connection", dismiss: "Dismiss", dismissed: "{name} dismissed.", dismissedLast: "{count} dismissed, {name} last.",
  dismissFailed: "{name} could not be dismissed.", dismissNamed: "Dismiss {name}", empty: "This feed is empty.", emptyPages: "The last {count} pages are empty.",
  end: "End of the feed: {count} cells.", endOne: "End of the feed: 1 cell.", feed: "Feed", feedChanged: "The feed has changes.",
  feedRefused: "The feed cannot be loaded.", furtherPages: "The feed has further pages.", goBack: "Go to the feed", image: "Image", imageFailed: "The image cannot be displayed. {reason}",
  imageMissing: "Image unavailable", imageOf: "Image of {name}", imageReason: "The server did not return the image.", imagesMissing: "Some images are missing. {detail}", invalid: "The attribute {name} of the element is not valid.",
  larger: "Larger", listed: "{name} is in the feed again.", loadMore: "Load more", media: "Media", mediaFailed: "The media cannot be played.", more: "More",
  newCells: "{count} new cells in the feed.", newOne: "1 new cell in the feed.", newPill: "{count} new", noAvatar: "This person has no image.", noDismissed: "No dismissed cells.", noFeed: "There is no such feed.",
  noDismissedText: "Cells that you dismiss in a feed are listed here and can be restored.", none: "None", noSaved: "No saved cells.", noSavedText: "Cells that you save in a feed are listed here.",
  noScreen: "This page has no screen named {name}.", notices: "Notices", omitted: "Omitted: {items}.", omittedItem: "{count} {kind} ({types}{identifiers} not supported)", omittedTypes: "{types} of ", open: "Open",
  openFailed: "{name} could not be opened.", pageRefused: "The next page cannot be loaded.", partial: "A part of the server does not respond, so some content may be missing.", play: "Play {name}",
  queued: "The dismissal will be sent when the server is available again.", reload: "Reload", remove: "Remove", removed: "No longer available", removeFailed: "{name} could not be removed from the list.",
  required: " (required)", restore: "Restore", restored: "{name} is restored.", restoreFailed: "{name} could not be restored.", retry: "Retry", retryIn: "Retry in {seconds} s.",
  send: "Send", sendFailed: "{name} could not be sent: {label}.", serverBack: "The server is available again.", showChanges: "Show changes", signIn: "Sign in to continue.", smaller: "Smaller",
  state: "State of the feed", tryAgain: "Try again", tryLater: "The server is not available now. Try again.", unavailable: "The server is temporarily unavailable.", undo: "Undo", undoAll: "Undo all",
  unreachable: "The server cannot be reached.", unsaved: "{name} is no longer saved.", unsupported: "Unsupported cell", visit: "Visit",
};

const german = {
  advertisement: "Anzeige", cancel: "Abbrechen", cell: "Eintrag", cellSaved: "Gemerkt", choose: "Auswählen …", close: "Schließen", connecting: "Verbindung wird aufgebaut …",
  connection: "Verbindung", dismiss: "Ausblenden", dismissed: "{name} ausgeblendet.", dismissedLast: "{count} ausgeblendet, zuletzt {name}.",
  dismissFailed: "{name} ließ sich nicht ausblenden.", dismissNamed: "{name} ausblenden", empty: "Dieser Feed ist leer.", emptyPages: "Die letzten {count} Seiten sind leer.",
  end: "Ende des Feeds: {count} Einträge.", endOne: "Ende des Feeds: 1 Eintrag.", feed: "Feed", feedChanged: "Der Feed hat sich geändert.",
  feedRefused: "Der Feed kann nicht geladen werden.", furtherPages: "Der Feed hat weitere Seiten.", goBack: "Zum Feed", image: "Bild", imageFailed: "Das Bild kann nicht angezeigt werden. {reason}",
  imageMissing: "Bild nicht verfügbar", imageOf: "Bild von {name}", imageReason: "Der Server hat das Bild nicht gesendet.", imagesMissing: "Einige Bilder fehlen. {detail}", invalid: "Das Attribut {name} des Elements ist ungültig.",
  larger: "Größer", listed: "{name} ist wieder im Feed.", loadMore: "Mehr laden", media: "Medien", mediaFailed: "Die Datei kann nicht abgespielt werden.", more: "Mehr",
  newCells: "{count} neue Einträge im Feed.", newOne: "1 neuer Eintrag im Feed.", newPill: "{count} neu", noAvatar: "Diese Person hat kein Bild.", noDismissed: "Nichts ausgeblendet.", noFeed: "Diesen Feed gibt es nicht.",
  noDismissedText: "Hier steht, was Sie in einem Feed ausblenden. Sie können es wiederherstellen.", none: "Keine", noSaved: "Nichts gemerkt.", noSavedText: "Hier steht, was Sie sich in einem Feed merken.",
  noScreen: "Diese Seite hat keine Ansicht namens {name}.", notices: "Hinweise", omitted: "Ausgelassen: {items}.", omittedItem: "{count} {kind} ({types}{identifiers} wird nicht unterstützt)", omittedTypes: "{types} von ", open: "Öffnen",
  openFailed: "{name} ließ sich nicht öffnen.", pageRefused: "Die nächste Seite kann nicht geladen werden.", partial: "Ein Teil des Servers antwortet nicht; einige Inhalte können fehlen.", play: "{name} abspielen",
  queued: "Das Ausblenden wird gesendet, sobald der Server wieder erreichbar ist.", reload: "Neu laden", remove: "Entfernen", removed: "Nicht mehr verfügbar", removeFailed: "{name} ließ sich nicht aus der Liste entfernen.",
  required: " (erforderlich)", restore: "Wiederherstellen", restored: "{name} ist wiederhergestellt.", restoreFailed: "{name} ließ sich nicht wiederherstellen.", retry: "Erneut versuchen", retryIn: "Nächster Versuch in {seconds} s.",
  send: "Senden", sendFailed: "{name} konnte nicht gesendet werden: {label}.", serverBack: "Der Server ist wieder erreichbar.", showChanges: "Änderungen anzeigen", signIn: "Bitte melden Sie sich an.", smaller: "Kleiner",
  state: "Zustand des Feeds", tryAgain: "Erneut versuchen", tryLater: "Der Server ist gerade nicht erreichbar. Versuchen Sie es erneut.", unavailable: "Der Server ist vorübergehend nicht verfügbar.", undo: "Rückgängig", undoAll: "Alle rückgängig",
  unreachable: "Der Server ist nicht erreichbar.", unsaved: "{name} ist nicht mehr gemerkt.", unsupported: "Nicht unterstützter Eintrag", visit: "Besuchen",
};

const languages = { en: english, de: german };

/** Returns the language of the words for a language tag: `en` or `de`. */
export const languageOfWords = (tag) => (String(tag).toLowerCase().split("-")[0] === "de" ? "de" : "en");

/** Returns the words of a language; the text of the attribute `words`, a JSON object, replaces some of them. */
export function wordsOf(language, attribute) {
  let own = {};
  try {
    const value = JSON.parse(attribute ?? "{}");
    own = Object.fromEntries(Object.entries(value ?? {}).filter(([, word]) => typeof word === "string"));
  } catch {
    console.warn("The attribute words of the element is not a JSON object.");
  }
  const words = { ...languages[language], ...own };
  /** Returns a word by its name, with values in place of `{name}`. */
  return (name, values = {}) => words[name].replace(/\{(\w+)\}/g, (_, value) => values[value] ?? "");
}
