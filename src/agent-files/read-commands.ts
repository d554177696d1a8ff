import { join } from 'node:path'
import { isObject } from '../base/is-object.ts'
import type { AgentFile } from '../core/agent-file/agent-file.ts'
import { parseFrontMatter } from './parse-yaml.ts'
import { entriesOf, filesIn, hashOf } from './read-folder.ts'

/** Folders of commands in one folder: `frontend/build.md` is the command `frontend:build`. */
const MAX_FOLDERS = 64
const MAX_DESCRIPTION_CHARS = 1_024

/** The slash commands in a folder: each Markdown file, and those of its folders. */
export async function commandsIn(folder: string, workspace: string | null): Promise<readonly AgentFile[]> {
  const folders = (await entriesOf(folder)).filter((entry) => entry.isDirectory()).slice(0, MAX_FOLDERS)
  const places = [
    { at: folder, prefix: '' },
    ...folders.map(({ name }) => ({ at: join(folder, name), prefix: `${name}:` })),
  ]
  const found = await Promise.all(
    places.map(async ({ at, prefix }) => {
      const files = await filesIn(at, ['.md'])
      return Promise.all(
        files.map(async ({ path, bytes }): Promise<AgentFile> => {
          const name = `${prefix}${path.replace(/^.*\//s, '').replace(/\.md$/i, '')}`
          const { matter, body } = await parseFrontMatter(bytes.toString('utf8'))
          const file = { kind: 'command', name, path, workspace, hash: hashOf(bytes) } as const
          const problem = problemOf(name, body)
          if (matter.type === 'problem' || problem !== null)
            return { ...file, description: '', problem: matter.type === 'problem' ? matter.message : problem }
          const fields = isObject(matter.value) ? matter.value : {}
          const { description = '', 'argument-hint': hint = '' } = fields
          return {
            ...file,
            description: String(description).slice(0, MAX_DESCRIPTION_CHARS),
            problem: null,
            content: { kind: 'command', body, argumentHint: hintOf(hint) },
          }
        }),
      )
    }),
  )
  return found.flat()
}

/** The characters that the word of a command may have where a person types it. */
const COMMAND_NAME = /^[\w.:-]{1,128}$/

function problemOf(name: string, body: string): string | null {
  if (!COMMAND_NAME.test(name)) return 'Its name must be letters, digits, ., :, - and _, at most 128.'
  return body === '' ? 'It has no text.' : null
}

/** `[branch]` is a list in YAML. */
function hintOf(hint: unknown): string {
  return Array.isArray(hint) ? `[${hint.map(String).join(', ')}]` : String(hint)
}
