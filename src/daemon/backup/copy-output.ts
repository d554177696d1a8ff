import { constants, copyFileSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../../base/error-text.ts'
import { segmentOffset } from '../../output-log/log-format.ts'

/** Called after each output log, with the number of copied logs and of all. */
export type OnCopied = (done: number, all: number) => void

/**
 * Copies output logs, also those that programs are writing to. Bytes that are appended meanwhile may be missing at the end of
 * a copy; the rest of a log is whole.
 */
export async function copyOutput(from: string, to: string, onCopied: OnCopied = () => {}): Promise<void> {
  mkdirSync(to, { recursive: true, mode: 0o700 })
  const logs = namesIn(from)
  for (const [at, log] of logs.entries()) {
    copyLog(join(from, log), join(to, log))
    onCopied(at + 1, logs.length)
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
}

/** The index comes after the segments: entries without bytes are harmless, bytes without an entry have no stream. */
function copyLog(from: string, to: string): void {
  mkdirSync(to, { mode: 0o700 })
  const names = namesIn(from)
  const isSegment = (name: string) => segmentOffset(name) !== undefined
  for (const name of [...names.filter(isSegment), ...names.filter((name) => !isSegment(name))])
    unlessGone(() => copyFileSync(join(from, name), join(to, name), constants.COPYFILE_FICLONE))
}

/** Names in a folder, sorted; none if the folder does not exist. */
function namesIn(folder: string): string[] {
  return unlessGone(() => readdirSync(folder).sort()) ?? []
}

/** The keeper removes old segments, and housekeeping whole logs, while they are being copied. */
function unlessGone<T>(act: () => T): T | undefined {
  try {
    return act()
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}
