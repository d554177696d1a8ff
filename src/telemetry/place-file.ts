import { readFileSync } from 'node:fs'
import { writeWholeFile } from '../home/write-file.ts'

/** How far the feed has been told of, in a file: what the next daemon goes on from. */
export class PlaceFile {
  readonly #path: string

  constructor(path: string) {
    this.#path = path
  }

  /** Null where nothing was told yet, or nobody can say what. */
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
