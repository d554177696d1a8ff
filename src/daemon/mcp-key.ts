import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { HomePaths } from '../client/home.ts'
import { writeWholeFile } from './home.ts'

const KEY_BYTES = 32

/** Signs the ids of MCP connections, so that the next daemon of this home knows them. Made when there is none. */
export function mcpKey({ mcpKey: path }: HomePaths): Buffer {
  const there = Buffer.from(textOf(path).trim(), 'hex')
  if (there.length === KEY_BYTES) return there
  const key = randomBytes(KEY_BYTES)
  writeWholeFile(path, `${key.toString('hex')}\n`)
  return key
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}
