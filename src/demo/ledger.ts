import { appendFileSync, readFileSync } from 'node:fs'

/** `acknowledged`: `spawn` has answered a caller. `begun`, `done`: each run of the handler. */
export type Entry = { readonly what: 'acknowledged' | 'begun' | 'done'; readonly pid: string }

/**
 * The effects, recorded outside of the store: one line for each, appended by the OS process that caused it. The proofs compare this
 * with the event log.
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
