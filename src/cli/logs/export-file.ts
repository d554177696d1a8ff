import { createWriteStream } from 'node:fs'
import { resolve } from 'node:path'
import { finished } from 'node:stream/promises'
import type { Context, Surroundings } from '../context.ts'
import type { Printer } from '../print/printer.ts'
import { byteCount } from '../print/times.ts'
import { UsageError } from '../usage-error.ts'

/** Where logs are written. */
export interface Destination {
  readonly around: Surroundings
  readonly print: Printer
  /** Resolves when all of it is written. */
  close(): Promise<void>
}

/** Standard output, or the file that `--output` names. */
export async function destinationOf(
  context: Context<{ readonly output: string | undefined }>,
): Promise<Destination> {
  const { around, print } = context
  const { output } = context.options
  if (output === undefined) return { around, print, close: async () => undefined }
  const path = resolve(around.cwd, output)
  const file = createWriteStream(path)
  await new Promise<void>((opened, failed) => {
    file.once('open', () => opened())
    file.once('error', (error) => failed(cannotWrite(path, error)))
  })
  const toFile: Surroundings = { ...around, stdout: file }
  return {
    around: toFile,
    print: print.writingTo(toFile),
    async close() {
      file.end()
      await finished(file).catch((error: Error) => Promise.reject(cannotWrite(path, error)))
      if (around.stderr.isTTY) print.aside(`Wrote ${byteCount(file.bytesWritten)} to ${path}.`)
    },
  }
}

function cannotWrite(path: string, error: Error): UsageError {
  return new UsageError(
    `--output ${path} cannot be written: ${error.message}.`,
    'Give a file that can be written.',
  )
}
