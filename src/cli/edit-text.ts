import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Surroundings } from './context.ts'
import { UsageError } from './usage-error.ts'

/** The text as the user's editor leaves it. */
export async function editText({ env }: Surroundings, name: string, text: string): Promise<string> {
  const editor = env['VISUAL'] || env['EDITOR']
  if (editor === undefined || editor === '')
    throw new UsageError('There is no editor.', 'Set EDITOR, or give the whole spec with --spec <json>.')
  const folder = await mkdtemp(join(tmpdir(), 'reeve-edit-'))
  try {
    const file = join(folder, name)
    await writeFile(file, text, { mode: 0o600 })
    await runEditor(editor, file)
    return await readFile(file, 'utf8')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The variable may hold options: `code --wait`. */
function runEditor(editor: string, file: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const child = spawn('/bin/sh', ['-c', `${editor} "$1"`, 'reeve', file], { stdio: 'inherit' })
  child.once('error', reject)
  child.once('exit', (code) => {
    if (code === 0) resolve()
    else
      reject(
        new UsageError(`The editor ended with ${code ?? 'a signal'}; nothing was answered.`, 'Try again.'),
      )
  })
  return promise
}
