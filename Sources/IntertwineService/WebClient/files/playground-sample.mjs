// The first texts of the playground.

export const sampleDeclaration = `languages: [en, de]
labels:
  selection: {en: Sign up, de: Anmelden}
  dismissal: {en: Hide, de: Ausblenden}
kinds:
  event:
    fields:
      title: {type: text, required: true, max: 120, languages: true}
      starts: {type: date, required: true}
      image: {type: image, required: true}
      signup: {type: url, required: true}
      city: text
    destination: signup
    cells:
      collection:
        identifier: EventCollectionViewCell
        size: {width: 300, height: 200, text-height: 44}
        bind:
          title: {text: {en: "{{title}}{{#city}} in {{.}}{{/city}}", de: "{{title}}{{#city}} in {{.}}{{/city}}"}}
          starts: {date: starts}
          image: {image: image, size: cell, focus: attention}
      table:
        identifier: EventTableViewCell
        size: {fraction: 1, height: 88, text-height: 44}
        bind:
          title: {text: title}
          starts: {date: starts}
          image: {image: image, size: 88x88, focus: attention}
    actions:
      cancellation: [cancel-images]
      selection: [analytics, clickthrough]
      impression: [analytics]
`;

export const sampleItem = `{
  "kind": "event",
  "id": 1,
  "title": {"en": "Swing night", "de": "Swing-Abend"},
  "starts": "2026-05-01T19:00:00Z",
  "image": "https://pictures.example.com/swing.png",
  "signup": "https://sign.example.com/1",
  "city": "Berlin"
}
`;
