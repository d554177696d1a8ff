import type { TerminalParts, Terminals, Upgrade } from './terminal.ts'

/** Terminals that are loaded when the first one is asked for: most daemons never are, and all are to start fast. */
export class LateTerminals {
  readonly #parts: TerminalParts
  #loaded: Promise<Terminals> | undefined
  #there: Terminals | undefined

  constructor(parts: TerminalParts) {
    this.#parts = parts
  }

  async upgrade(upgrade: Upgrade): Promise<void> {
    const { socket } = upgrade
    // Whoever leaves meanwhile takes nobody along.
    socket.on('error', () => socket.destroy())
    this.#loaded ??= import('./terminal.ts').then(({ Terminals }) => new Terminals(this.#parts))
    this.#there = await this.#loaded
    await this.#there.upgrade(upgrade)
  }

  /** Whether somebody sits at the terminal of this process. */
  show(pid: string): boolean {
    return this.#there?.show(pid) ?? false
  }

  async close(): Promise<void> {
    ;(await this.#loaded)?.close()
  }
}
