/** An event with a `detail`. Why: older runtimes have no `CustomEvent`. */
export class DetailEvent extends Event {
  constructor(type, detail) {
    super(type);
    this.detail = detail;
  }
}
