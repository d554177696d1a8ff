import { readFileSync } from 'node:fs'
import { writeWholeFile } from '../home/write-file.ts'

/** The feed position up to which spans were exported, in a file: the next daemon continues from it. */
export class PositionFile {
  readonly #path: string

  constructor(path: string) {
    this.#path = path
  }

  /** Null if the file is missing or unreadable. */
  read(): number | null {
    try {
      const { position } = JSON.parse(readFileSync(this.#path, 'utf8')) as { position?: unknown }
      return Number.isSafeInteger(position) ? (position as number) : null
    } catch {
      return null
    }
  }

  write(position: number): void {
    writeWholeFile(this.#path, `${JSON.stringify({ position })}\n`)
  }
}
