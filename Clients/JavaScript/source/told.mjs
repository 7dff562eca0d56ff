/** An event with what it is about in `detail`. Not `CustomEvent`, which runtimes have only lately. */
export class Told extends Event {
  constructor(type, detail) {
    super(type);
    this.detail = detail;
  }
}
