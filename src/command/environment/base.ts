import { loginEnvironment } from './login.ts'

/** Captured once, when the first command needs it or before. */
export class BaseEnvironment {
  readonly #shell: string
  readonly #from: 'login' | 'inherit'
  readonly #onTrouble: (error: unknown, doing: string) => void
  #captured: Promise<Readonly<Record<string, string | undefined>>>

  constructor(shell: string, from: 'login' | 'inherit', onTrouble: (error: unknown, doing: string) => void) {
    this.#shell = shell
    this.#from = from
    this.#onTrouble = onTrouble
    this.#captured = this.#capture()
  }

  variables(): Promise<Readonly<Record<string, string | undefined>>> {
    return this.#captured
  }

  async refresh(): Promise<void> {
    this.#captured = this.#capture()
    await this.#captured
  }

  async #capture(): Promise<Readonly<Record<string, string | undefined>>> {
    if (this.#from === 'inherit') return process.env
    try {
      return await loginEnvironment(this.#shell)
    } catch (error) {
      this.#onTrouble(
        error,
        `reading the environment of ${this.#shell}; commands get this program's own instead`,
      )
      return process.env
    }
  }
}
