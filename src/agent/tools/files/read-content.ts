import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { codeOf, messageOf } from '../../../base/error-text.ts'
import { ToolError } from '../agent-tool.ts'
import type { WorkspacePath } from './workspace-path.ts'

/** A larger file is read by a command. */
export const MAX_FILE_BYTES = 10 * 1024 * 1024

export interface FileContent {
  readonly bytes: Buffer
  readonly hash: string
  readonly mode: number
}

/** The content of a regular file; null if there is none. The path has no links, so the file is opened without following any. */
export async function readContent({ real, shown }: WorkspacePath): Promise<FileContent | null> {
  const file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (error: unknown) => {
      if (codeOf(error) === 'ENOENT') return null
      throw ioError(shown, error)
    },
  )
  if (file === null) return null
  try {
    const found = await file.stat()
    if (found.isDirectory()) throw new ToolError('not_a_file', `${shown} is a folder. List it instead.`)
    if (!found.isFile()) throw new ToolError('not_a_file', `${shown} is no regular file.`)
    if (found.size > MAX_FILE_BYTES)
      throw new ToolError(
        'too_large',
        `${shown} has ${found.size} bytes; at most ${MAX_FILE_BYTES} are read. Use a command such as sed or jq for a part of it.`,
      )
    const bytes = await file.readFile()
    return { bytes, hash: hashOf(bytes), mode: found.mode & 0o7777 }
  } catch (error) {
    throw error instanceof ToolError ? error : ioError(shown, error)
  } finally {
    await file.close()
  }
}

export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** The text of a file in UTF-8. Throws if it is not text. */
export function textOf(bytes: Buffer, shown: string): string {
  const text = decodeText(bytes)
  if (text !== null) return text
  throw new ToolError(
    'not_text',
    `${shown} is not text in UTF-8 (${bytes.length} bytes). Use a command to look at it.`,
  )
}

/** Null if it is not text. */
export function decodeText(bytes: Buffer): string | null {
  if (bytes.includes(0)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}

export function ioError(shown: string, error: unknown): ToolError {
  const code = codeOf(error)
  if (code === 'EACCES' || code === 'EPERM')
    return new ToolError('io_error', `${shown} cannot be accessed: permission denied.`)
  if (code === 'ELOOP')
    return new ToolError('outside_workspace', `${shown} became a symbolic link meanwhile.`)
  if (code === 'ENOSPC') return new ToolError('io_error', `${shown} could not be written: the disk is full.`)
  return new ToolError('io_error', `${shown}: ${messageOf(error)}`)
}
