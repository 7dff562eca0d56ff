// The examples of the playground.

const event = {
  declaration: `languages: [en, de]
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
`,
  item: `{
  "kind": "event",
  "id": 1,
  "title": {"en": "Swing night", "de": "Swing-Abend"},
  "starts": "2026-05-01T19:00:00Z",
  "image": "https://pictures.example.com/swing.png",
  "signup": "https://sign.example.com/1",
  "city": "Berlin"
}
`,
};

const article = {
  declaration: `kinds:
  article:
    fields:
      title: {type: text, required: true, max: 120}
      source: {type: text, required: true, max: 60}
      minutes: {type: number, min: 1, max: 90}
      image: {type: image, required: true}
      url: {type: url, required: true}
    destination: url
    cells:
      collection:
        identifier: ArticleCollectionViewCell
        size: {width: 300, height: 220, text-height: 66}
        bind:
          title: {text: title}
          byline: {text: "{{source}}{{#minutes}} · {{.}} min{{/minutes}}"}
          image: {image: image, size: cell, focus: attention}
      table:
        identifier: ArticleTableViewCell
        size: {fraction: 1, height: 88, text-height: 44}
        bind:
          title: {text: title}
          byline: {text: "{{source}}{{#minutes}} · {{.}} min{{/minutes}}"}
          image: {image: image, size: 88x88, focus: attention}
    actions:
      cancellation: [cancel-images]
      selection: [analytics, clickthrough]
      dismissal: [analytics, dismiss]
      impression: [analytics]
      like: {commands: [analytics, save], label: Save}
`,
  item: `{
  "kind": "article",
  "id": "night-trains",
  "title": "Night trains are back: what a berth from Vienna to Paris costs",
  "source": "The Platform",
  "minutes": 6,
  "image": "https://pictures.example.com/train.png",
  "url": "https://news.example.com/night-trains"
}
`,
};

const product = {
  declaration: `kinds:
  product:
    fields:
      name: {type: text, required: true, max: 80}
      price: {type: number, required: true, decimals: 2, unit: €}
      stock: {type: number, min: 0}
      photo: {type: image, required: true}
      shop: {type: url, required: true}
    destination: shop
    cells:
      collection:
        - identifier: LastProductsCell
          when: {stock: {min: 1, max: 3}}
          size: {width: 300, height: 240, text-height: 66}
          bind:
            name: {text: name}
            price: {text: "{{price}}, the last {{stock}}"}
            photo: {image: photo, size: 300x170}
        - identifier: ProductCell
          size: {width: 300, height: 240, text-height: 44}
          bind:
            name: {text: name}
            price: {text: price}
            photo: {image: photo, size: 300x190}
    actions:
      selection: [analytics, clickthrough]
      impression: [analytics]
      like: {commands: [analytics, save], label: Keep}
`,
  item: `{
  "kind": "product",
  "id": "lamp-7",
  "name": "Reading lamp",
  "price": 49.5,
  "stock": 2,
  "photo": "https://shop.example.com/lamp.png",
  "shop": "https://shop.example.com/lamp-7"
}
`,
};

const recipe = {
  declaration: `kinds:
  recipe:
    fields:
      title: {type: text, required: true, max: 120}
      seconds: {type: number, required: true, min: 1, factor: 0.0166667, decimals: 0, unit: min}
      ingredients: tags
      servings: {type: number, min: 1}
      difficulty: {type: text, choices: [easy, medium, hard]}
      photo: {type: image, required: true}
    cells:
      collection:
        identifier: RecipeCell
        size: {width: 300, height: 250, text-height: 66}
        bind:
          title: {text: title}
          facts: {text: "{{seconds}}{{#servings}}, serves {{.}}{{/servings}}"}
          ingredients: {text: ingredients}
          photo: {image: photo, size: 300x170, focus: attention}
    actions:
      selection: [analytics]
      dismissal: [analytics, dismiss]
      bookmark: {commands: [analytics, save], label: Bookmark}
`,
  item: `{
  "kind": "recipe",
  "id": "carbonara",
  "title": "Spaghetti alla carbonara with guanciale and pecorino",
  "seconds": 1500,
  "ingredients": ["spaghetti", "guanciale", "eggs", "pecorino", "black pepper"],
  "servings": 4,
  "difficulty": "easy",
  "photo": "https://pictures.example.com/carbonara.png"
}
`,
};

const job = {
  declaration: `kinds:
  job:
    fields:
      title: {type: text, required: true, max: 100}
      company: {type: text, required: true}
      city: text
      remote: boolean
      posted: {type: date, required: true}
      apply: {type: url, required: true}
    destination: apply
    cells:
      collection:
        identifier: JobCell
        size: {width: 300, height: 120, text-height: 66}
        bind:
          title: {text: title}
          company: {text: "{{company}}{{#city}} in {{.}}{{/city}}"}
          posted: {date: posted}
      table:
        identifier: JobRow
        size: {fraction: 1, height: 88, text-height: 44}
        bind:
          title: {text: title}
          company: {text: company}
    actions:
      selection: [analytics, clickthrough]
      report:
        commands: [analytics]
        label: Report
        input:
          reason: {type: text, required: true, choices: [spam, outdated, other], label: Reason}
`,
  item: `{
  "kind": "job",
  "id": "baker-1",
  "title": "Baker for the early shift",
  "company": "Brot & Söhne",
  "city": "Leipzig",
  "remote": false,
  "posted": "2026-05-01",
  "apply": "https://jobs.example.com/baker-1"
}
`,
};

const podcast = {
  declaration: `kinds:
  episode:
    fields:
      title: {type: text, required: true, max: 120}
      show: {type: text, required: true}
      sound: {type: url, required: true}
      seconds: {type: number, required: true, factor: 0.0166667, decimals: 0, unit: min}
      cover: {type: image, required: true}
    cells:
      collection:
        identifier: EpisodeCell
        size: {width: 300, aspect: 1.1, text-height: 44}
        bind:
          title: {text: title}
          show: {text: "{{show}} · {{seconds}}"}
          cover: {image: cover, size: 300x140, focus: attention}
          sound: {media: sound}
          duration: {number: seconds}
    actions:
      selection: [analytics]
      dismissal: [analytics, dismiss]
      queue: {commands: [analytics, save], label: Listen later}
`,
  item: `{
  "kind": "episode",
  "id": "night-trains-12",
  "title": "Twelve hours to Stockholm",
  "show": "Night trains",
  "sound": "https://podcasts.example.com/12.mp3",
  "seconds": 1860,
  "cover": "https://podcasts.example.com/12.png"
}
`,
};

/** The examples by name: the declaration of a kind, and an item. */
export const examples = { event, article, product, recipe, job, podcast };
