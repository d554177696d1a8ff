import { join } from 'node:path'
import { messageOf } from '../base/error-text.ts'
import type { Hook } from '../core/agent/hooks.ts'
import type { AgentFile } from '../core/agent-file/agent-file.ts'
import { hooksFileSchema } from '../verbs/shapes/hook.ts'
import { issuesText } from './issues-text.ts'
import { hashOf, readRegular } from './read-folder.ts'

/** The hooks of a folder: `hooks.json` in it. */
export async function hooksIn(folder: string, workspace: string | null): Promise<readonly AgentFile[]> {
  const found = await readRegular(join(folder, 'hooks.json'))
  if (found === null) return []
  const { path, bytes } = found
  const file = { kind: 'hooks', name: 'hooks', path, workspace, hash: hashOf(bytes) } as const
  const parsed = parseHooks(bytes.toString('utf8'))
  if (typeof parsed === 'string') return [{ ...file, description: '', problem: parsed }]
  const description = parsed.map(({ event, run }) => `${event}: ${run}`).join('; ')
  return [{ ...file, description, problem: null, content: { kind: 'hooks', hooks: parsed } }]
}

/** The hooks, or why they cannot be used. */
function parseHooks(text: string): readonly Hook[] | string {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return `It is no JSON: ${messageOf(error)}`
  }
  const parsed = hooksFileSchema.safeParse(value)
  if (parsed.success) return parsed.data.hooks
  return issuesText(parsed.error.issues)
}
