import type { TerminalParts, Terminals, Upgrade } from './terminal.ts'

/** Loads the code of terminals for the first one: most daemons never need it, and all must start fast. */
export class LateTerminals {
  readonly #parts: TerminalParts
  #loaded: Promise<Terminals> | undefined
  #there: Terminals | undefined

  constructor(parts: TerminalParts) {
    this.#parts = parts
  }

  async upgrade(upgrade: Upgrade): Promise<void> {
    const { socket } = upgrade
    // An error of this socket must not crash the daemon while the code loads.
    socket.on('error', () => socket.destroy())
    this.#loaded ??= import('./terminal.ts').then(({ Terminals }) => new Terminals(this.#parts))
    this.#there = await this.#loaded
    await this.#there.upgrade(upgrade)
  }

  /** Whether a terminal of this process is open. */
  show(pid: string): boolean {
    return this.#there?.show(pid) ?? false
  }

  async close(): Promise<void> {
    ;(await this.#loaded)?.close()
  }
}
