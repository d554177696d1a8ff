import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Daemon } from '../../src/daemon/up.ts'
import { tempFolder } from '../temp-folder.ts'
import { SECRETS as PRINTED, shows } from './corpus.ts'

// A terminal does not draw NULs, so the texts around one join.
const SECRETS = PRINTED.filter(({ text }) => !text.includes('\0'))
const TEXT = `${SECRETS.map(({ text }) => text).join('\nsome text in between\n')}\nthe last line\n`
export const ALL_SECRETS = { secrets: SECRETS.flatMap(({ secrets }) => secrets) }

/** The command line that prints a file with all secrets. The file is outside of every home. */
export function printsSecrets(): string {
  const file = join(tempFolder(), 'text')
  writeFileSync(file, TEXT)
  return `cat ${file}`
}

export function expectNoSecrets(what: string, answer: unknown, printed = ALL_SECRETS): void {
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer)
  const shown = shows(text, printed)
    ? printed.secrets.filter((secret) => shows(text, { secrets: [secret] }))
    : []
  expect([what, shown]).toEqual([what, []])
}

/** Runs a line to its end, and returns its pid. */
export async function runToEnd(daemon: Daemon, line: string, more: object = {}): Promise<string> {
  const { record } = await daemon.reeve.spawn({ kind: 'command', spec: { run: line, ...more } })
  await daemon.reeve.wait({ pid: record.pid, timeoutMs: 30_000 })
  return record.pid
}
