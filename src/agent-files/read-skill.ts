import { join } from 'node:path'
import { isObject } from '../base/is-object.ts'
import type { AgentFile, SkillFile } from '../core/agent-file/agent-file.ts'
import { toolHere } from './claude-agent.ts'
import { parseFrontMatter } from './parse-yaml.ts'
import { entriesOf, hashOf, type ReadFile, readRegular } from './read-folder.ts'

/** The file that makes a folder a skill. */
const SKILL_FILE = 'SKILL.md'
const MAX_SKILLS = 256
const MAX_FILES = 1_000
const MAX_BYTES = 16 * 1024 * 1024
const MAX_DEPTH = 16
const SKILL_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
/** More is cut: it goes to the model with every call. */
const MAX_DESCRIPTION_CHARS = 1_024

/** The skills in a folder: each folder in it that has a `SKILL.md`. */
export async function skillsIn(folder: string, workspace: string | null): Promise<readonly AgentFile[]> {
  const folders = (await entriesOf(folder)).filter((entry) => entry.isDirectory()).slice(0, MAX_SKILLS)
  const found = await Promise.all(folders.map(({ name }) => readSkill(join(folder, name), name, workspace)))
  return found.filter((skill) => skill !== null)
}

async function readSkill(
  path: string,
  folderName: string,
  workspace: string | null,
): Promise<AgentFile | null> {
  const main = await readRegular(join(path, SKILL_FILE))
  if (main === null) return null
  const whole = await readWhole(path, main)
  const file = { kind: 'skill', path, workspace, hash: whole.hash } as const
  const { matter, body } = await parseFrontMatter(main.bytes.toString('utf8'))
  const fields = matter.type === 'parsed' && isObject(matter.value) ? matter.value : {}
  const { name = folderName, description, 'allowed-tools': tools } = fields
  const problem =
    whole.problem ??
    (matter.type === 'problem'
      ? matter.message
      : typeof name !== 'string' || !SKILL_NAME.test(name)
        ? 'Its name must be letters, digits, ., - and _, at most 64.'
        : typeof description !== 'string' || description.trim() === ''
          ? 'It has no description.'
          : null)
  if (problem !== null) return { ...file, name: folderName, description: '', problem }
  return {
    ...file,
    name: String(name),
    description: String(description).trim().slice(0, MAX_DESCRIPTION_CHARS),
    problem: null,
    content: { kind: 'skill', body, files: whole.files, allowedTools: namesIn(tools).map(toolHere) },
  }
}

interface WholeSkill {
  /** Of the names and contents of all files. */
  readonly hash: string
  /** Besides `SKILL.md`. */
  readonly files: readonly SkillFile[]
  readonly problem: string | null
}

/** Reads all files of a skill besides `main`, whose text counts as it was read. What is no regular file cannot be trusted: a link may lead elsewhere tomorrow. */
async function readWhole(root: string, main: ReadFile): Promise<WholeSkill> {
  const lines: string[] = []
  const files: SkillFile[] = []
  let bytes = 0
  let problem: string | null = null
  const walk = async (folder: string, depth: number): Promise<void> => {
    for (const entry of await entriesOf(join(root, folder))) {
      const name = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory() && depth < MAX_DEPTH) {
        await walk(name, depth + 1)
        continue
      }
      const read =
        name === SKILL_FILE ? main : entry.isFile() ? await readRegular(join(root, name), MAX_BYTES) : null
      bytes += read?.bytes.length ?? 0
      if (read === null) problem ??= `${name} is no regular file that can be read.`
      if (bytes > MAX_BYTES || lines.length >= MAX_FILES) {
        problem ??= `It has more than ${MAX_FILES} files or ${MAX_BYTES} bytes.`
        return
      }
      const hash = read === null ? 'unreadable' : hashOf(read.bytes)
      lines.push(`${JSON.stringify(name)} ${hash}`)
      if (name !== SKILL_FILE) files.push({ path: name, hash })
    }
  }
  await walk('', 0)
  return { hash: hashOf(lines.join('\n')), files, problem }
}

/** `allowed-tools`: a list, or a text with commas or spaces between. */
function namesIn(tools: unknown): readonly string[] {
  const names =
    typeof tools === 'string'
      ? tools.split(/[,\s]+(?![^(]*\))/)
      : Array.isArray(tools)
        ? tools.filter((one) => typeof one === 'string')
        : []
  return names.map((one) => one.trim()).filter((one) => one !== '')
}
