import { ReeveError } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { ReeveVerbs } from '../../verbs/reeve.ts'

/** The longest message to a program: that of one write. */
export const MAX_WRITE_BYTES = 1024 * 1024

export function isTooLong(message: JsonObject): boolean {
  return Buffer.byteLength(lineOf(message)) > MAX_WRITE_BYTES
}

/** Writes a message as a line of standard input. A number that the keeper has seen is not written again. */
export async function writeMessage(
  verbs: Pick<ReeveVerbs, 'write'>,
  pid: string,
  message: JsonObject,
  seq?: number,
): Promise<void> {
  await verbs.write({ pid, text: lineOf(message), ...(seq === undefined ? {} : { seq }) })
}

/** The codes of a write to a program that is gone: its keeper may know that before its end is on record. */
const GONE: readonly string[] = ['already_ended', 'input_closed']

/** The same to a program that may be gone: then it takes nothing, and its end is read from its output. */
export async function writeWhileAlive(
  verbs: Pick<ReeveVerbs, 'write'>,
  pid: string,
  message: JsonObject,
  seq?: number,
): Promise<void> {
  try {
    await writeMessage(verbs, pid, message, seq)
  } catch (error) {
    if (!(error instanceof ReeveError) || !GONE.includes(error.code)) throw error
  }
}

function lineOf(message: JsonObject): string {
  return `${JSON.stringify(message)}\n`
}
