/** Paths that are named; more are counted. */
const MAX_NAMED = 10

/** The paths that a tool could not read: its result says so, so that nothing found does not look like nothing there. */
export class UnreadPaths {
  readonly #skipped = new Named()
  readonly #rules = new Named()

  /** A file or a folder. */
  skipped(path: string): void {
    this.#skipped.add(path)
  }

  /** A file with rules of what to leave out. */
  rulesSkipped(path: string): void {
    this.#rules.add(path)
  }

  get notes(): readonly string[] {
    return [
      ...this.#skipped.text('skipped, because they cannot be read'),
      ...this.#rules.text('its rules are not applied, because it cannot be read'),
    ]
  }
}

class Named {
  readonly #paths: string[] = []
  #more = 0

  add(path: string): void {
    if (this.#paths.length < MAX_NAMED) this.#paths.push(path)
    else this.#more += 1
  }

  text(what: string): readonly string[] {
    if (this.#paths.length === 0) return []
    const more = this.#more === 0 ? '' : `, and ${this.#more} more`
    return [`${what}: ${this.#paths.join(', ')}${more}`]
  }
}
