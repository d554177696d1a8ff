import type { WriteAnswer } from '../protocol/messages.ts'
import type { Input } from './input.ts'
import { NumberedWrites } from './numbered-writes.ts'
import type { Output } from './output.ts'
import type { ProgramLog } from './program-log.ts'

export interface ProgramInputParts {
  /** False as soon as the exit is seen: input that comes afterwards is too late. */
  readonly isRunning: () => boolean
  readonly input: Input | null
  readonly resize: ((cols: number, rows: number) => void) | null
  readonly output: Output
  readonly log: ProgramLog
}

/** What callers send to a running program: bytes, the end of its input, the size of its terminal. */
export class ProgramInput {
  readonly #parts: ProgramInputParts
  readonly #writes = new NumberedWrites()

  constructor(parts: ProgramInputParts) {
    this.#parts = parts
  }

  write(seq: number | null, bytes: Buffer): WriteAnswer {
    const replayed = this.#writes.replayOf(seq)
    if (replayed !== null) return replayed
    if (!this.#parts.isRunning()) return { type: 'ended' }
    const { input } = this.#parts
    if (input === null) return { type: 'no_stdin' }
    const answer = input.write(bytes)
    this.#parts.output.wake()
    if (seq !== null && answer.type === 'written') this.#writes.add(seq, answer.bytes)
    return answer
  }

  close(): 'closed' | 'no_stdin' | 'ended' {
    if (!this.#parts.isRunning()) return 'ended'
    if (this.#parts.input === null) return 'no_stdin'
    this.#parts.input.end()
    return 'closed'
  }

  resize(cols: number, rows: number): 'resized' | 'no_pty' | 'ended' {
    if (!this.#parts.isRunning()) return 'ended'
    const { resize, log } = this.#parts
    if (resize === null) return 'no_pty'
    resize(cols, rows)
    log.size(cols, rows)
    return 'resized'
  }
}
