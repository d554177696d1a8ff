import { appendFileSync, readFileSync } from 'node:fs'

/** `acknowledged`: a caller was told that the process exists. `begun`, `done`: what its handler did, each time it ran. */
export type Entry = { readonly what: 'acknowledged' | 'begun' | 'done'; readonly pid: string }

/**
 * What really happened, written down outside of the store: one line per effect, appended by whichever OS process had
 * it. The proofs hold this against the event log.
 */
export class Ledger {
  readonly #file: string

  constructor(file: string) {
    this.#file = file
    appendFileSync(file, '')
  }

  write(what: Entry['what'], pid: string): void {
    appendFileSync(this.#file, `${what} ${pid}\n`)
  }

  read(): Entry[] {
    const lines = readFileSync(this.#file, 'utf8').split('\n').slice(0, -1)
    return lines.map((line) => {
      const [what, pid = ''] = line.split(' ')
      return { what: what as Entry['what'], pid }
    })
  }
}
