// The words of the page in German, by the English ones of its markup and its modules. The element has its own words.
import { languageOfWords } from "./client/element/words.mjs";

const german = {
  // The bar and the introduction.
  "Skip to the feed": "Zum Feed", Lists: "Listen", Saved: "Gemerkt", Dismissed: "Ausgeblendet", Console: "Konsole", View: "Ansicht", "View options (v)": "Ansicht (v)",
  Help: "Hilfe", "Help (?)": "Hilfe (?)", "About this page": "Über diese Seite", "{count} cells": "{count} Einträge", "{count} cell": "{count} Eintrag", "{count}+ cells": "{count}+ Einträge",
  "One feed for your app: the server decides what each cell shows, in which order, and what a tap does.":
    "Ein Feed für Ihre App: Der Server bestimmt Inhalt, Reihenfolge und Aktionen der Einträge.",
  "JSON of a cell": "JSON ansehen", "Move an item": "Verschieben", Documents: "Dokumentation", Filters: "Filter",
  "Operators add items with": "Betreiber legen Einträge an: mit", "or with a remote source.": "oder aus einer entfernten Quelle.",
  // The switches, the filters and the view options.
  Width: "Breite", Full: "Voll", Phone: "Telefon", Language: "Sprache", Colours: "Farben", Light: "Hell", Dark: "Dunkel", "Clear filters": "Filter löschen", Yes: "Ja", No: "Nein",
  "{name}: all": "{name}: alle", "View options": "Ansicht", "The browser’s": "Wie im Browser", "The system’s": "Wie im System", Small: "Klein", Large: "Groß",
  "Very large": "Sehr groß", Largest: "Am größten", Collection: "Kacheln", Table: "Tabelle", Main: "Hauptfeed", Section: "Abschnitt", "All sections": "Alle Abschnitte",
  "Text size": "Textgröße", Viewer: "Leser", "This browser": "Dieser Browser", "A guest": "Ein Gast", Cells: "Einträge", "All cells": "Alle Einträge",
  "Cells with a view of their own": "Mit eigener Ansicht", Developer: "Für Entwickler", "the window’s, in points": "wie das Fenster, in Punkten", "a name": "ein Name",
  "Admin listener": "Admin-Adresse", Cancel: "Abbrechen", Show: "Anzeigen",
  // Help.
  "Move between cells": "Zwischen Einträgen wechseln", "First cell, last loaded cell": "Erster Eintrag, letzter geladener Eintrag", "Select: zoom a user, open an ad": "Auswählen: Person vergrößern, Anzeige öffnen",
  "Dismiss, with undo": "Ausblenden, mit Rückgängig", "Undo the action of the notice": "Aktion des Hinweises rückgängig machen",
  "Choose feed, section, layout, text size, language, viewer, cells": "Feed, Abschnitt, Layout, Textgröße, Sprache, Leser und Einträge wählen",
  "Inspect what the app receives, and the requests": "Ansehen, was die App empfängt, und die Anfragen", "Close the dialog or panel": "Dialog oder Leiste schließen",
  "With a pointer, the buttons in the corner of a cell inspect, dismiss and save it.": "Mit einem Zeiger: Die Knöpfe in der Ecke eines Eintrags untersuchen ihn, blenden ihn aus und merken ihn.",
  Tap: "Tippen", "Select: zoom a user, open an ad, play media": "Auswählen: Person vergrößern, Anzeige öffnen, Medien abspielen", "Inspect or dismiss a cell, and its other commands": "Eintrag untersuchen oder ausblenden, und seine übrigen Befehle",
  "Pinch, drag": "Zwei Finger, ziehen", "Zoom and move an image": "Bild vergrößern und verschieben", Close: "Schließen",
  // The inspector.
  Inspect: "Untersuchen", Inspector: "Inspektor", "Here is what the app receives for a cell.": "Hier steht, was die App für einen Eintrag empfängt.", "Close the inspector": "Inspektor schließen",
  "Close (Esc)": "Schließen (Esc)", "None yet.": "Noch keine.", Requests: "Anfragen", "Descriptor and requests": "Beschreibung und Anfragen", "The cell": "Der Eintrag", Form: "Darstellung", Move: "Verschieben",
  "here\u00A0{size}": "hier\u00A0{size}", "Edit this kind in the playground": "Diese Art im Playground ändern", Copy: "Kopieren", Copied: "Kopiert", "Select the text to copy it": "Bitte den Text auswählen und kopieren",
  "An operator moves the item, and every open page follows. Run this on the machine of the service, and watch the cell:":
    "Ein Betreiber verschiebt den Eintrag, und jede offene Seite folgt. Führen Sie dies auf dem Rechner des Dienstes aus, und achten Sie auf den Eintrag:",
  "An operator moves the item, and every open page follows. Press an arrow in the console, and watch the cell.":
    "Ein Betreiber verschiebt den Eintrag, und jede offene Seite folgt. Drücken Sie in der Konsole einen Pfeil, und achten Sie auf den Eintrag.",
  "Open the console beside the feed": "Konsole neben dem Feed öffnen", "The same as a command:": "Dasselbe als Befehl:",
  "Press an arrow in the other window: the cell moves here.": "Drücken Sie im anderen Fenster einen Pfeil: Der Eintrag bewegt sich hier.",
  "Why is it here?": "Warum steht es hier?", "Why {name} is here": "Warum {name} hier steht", "The explanation is loaded from {origin}. Is that your service?": "Die Erklärung kommt von {origin}. Ist das Ihr Dienst?",
  Sent: "Gesendet", Response: "Antwort", Body: "Inhalt",
};

/** The language of the words: `de` or `en`, that of the page's URL, otherwise the first of both that the browser asks for. */
export const language = languageOfWords(
  new URLSearchParams(location.search).get("language") || navigator.languages.find((tag) => /^(de|en)\b/i.test(tag)));
document.documentElement.lang = language;

/** Returns an English text in the language of the page, with values in place of `{name}`. */
export function say(text, values = {}) {
  return ((language === "de" && german[text]) || text).replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

/** Shows the texts and the names of an element and its descendants in the language of the page. Code and marked words stay. */
export function translate(root) {
  if (language === "en") return root;
  const own = (node) => node.parentElement?.closest("[lang]:not(html), pre, code");
  const nodes = document.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
  for (let node = nodes.currentNode; node !== null; node = nodes.nextNode()) {
    if (node.nodeType === Node.TEXT_NODE) {
      const text = node.data.trim();
      if (text !== "" && Object.hasOwn(german, text) && !own(node)) node.data = node.data.replace(text, german[text]);
    } else {
      for (const name of ["aria-label", "title", "placeholder"]) if (Object.hasOwn(german, node.getAttribute(name) ?? "")) node.setAttribute(name, say(node.getAttribute(name)));
    }
  }
  return root;
}
