import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { codeOf } from '../base/error-text.ts'

/** Replaces a file at once: a reader sees the old text or the new one, never a part. Only its owner can read it. */
export function writeWholeFile(path: string, text: string): void {
  replaceFile(path, text, () => {})
}

/** Like `writeWholeFile`, and the new text is on disk when this returns. */
export function writeDurably(path: string, text: string): void {
  replaceFile(path, text, fsyncSync)
  const folder = openSync(dirname(path), 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

/** The text of a file, or undefined if there is none. */
export function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** The draft is a new file, so that no mode of an older draft lets others read it for a moment. */
function replaceFile(path: string, text: string, sync: (file: number) => void): void {
  const draft = `${path}.${process.pid}.new`
  rmSync(draft, { force: true })
  try {
    const file = openSync(draft, 'wx', 0o600)
    try {
      writeFileSync(file, text)
      sync(file)
    } finally {
      closeSync(file)
    }
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}
