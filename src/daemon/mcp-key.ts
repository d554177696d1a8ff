import { randomBytes } from 'node:crypto'
import type { HomePaths } from '../home/paths.ts'
import { readIfPresent, writeWholeFile } from '../home/write-file.ts'

const KEY_BYTES = 32

/** The key that signs the ids of MCP connections, so that the next daemon of this home accepts them. Created if it is missing. */
export function mcpKey({ mcpKey: path }: HomePaths): Buffer {
  const there = Buffer.from((readIfPresent(path) ?? '').trim(), 'hex')
  if (there.length === KEY_BYTES) return there
  const key = randomBytes(KEY_BYTES)
  writeWholeFile(path, `${key.toString('hex')}\n`)
  return key
}
