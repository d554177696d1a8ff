import { hash } from 'node:crypto'
import { readFile, realpath } from 'node:fs/promises'
import { isAbsolute, join, relative } from 'node:path'
import * as z from 'zod'
import { BoundedMap } from '../../base/bounded-map.ts'
import { didYouMean } from '../../base/nearest-name.ts'
import { type SkillLine, UNLOAD_SKILL, USE_SKILL } from '../../core/agent/skills.ts'
import type { AgentFile, AgentFileContent } from '../../core/agent-file/agent-file.ts'
import { type Need, NO_ATTRIBUTES } from '../../core/capability/need.ts'
import type { ProcessRecord } from '../../core/process/record.ts'
import { isFileTrusted } from '../../kernel/file-trust.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import { type AgentTool, agentTool, ToolError, textOutput } from '../tools/agent-tool.ts'

type Skill = AgentFile & { readonly content: Extract<AgentFileContent, { readonly kind: 'skill' }> }

/** A listing is this fresh: it is made before each model call. The tool itself looks at the files. */
const LISTED_MS = 2_000
const MAX_FOLDERS = 1_000
const MAX_SKILL_CHARS = 60_000

/** The skills of agents: those near their folder, and of the home, that a person trusts in their present version. */
export class Skills {
  readonly #kernel: () => Kernel
  readonly #listed = new BoundedMap<string, { readonly at: number; readonly skills: readonly SkillLine[] }>(
    MAX_FOLDERS,
  )

  constructor(kernel: () => Kernel) {
    this.#kernel = kernel
  }

  /** Their names and descriptions, for the prompt. */
  async lines({ cwd }: Pick<ProcessRecord, 'cwd'>): Promise<readonly SkillLine[]> {
    const key = cwd ?? ''
    const now = this.#kernel().edges.clock.now()
    const known = this.#listed.get(key)
    if (known !== undefined && Math.abs(now - known.at) < LISTED_MS) return known.skills
    const skills = (await this.#trusted(cwd)).map(({ name, description }) => ({ name, description }))
    this.#listed.set(key, { at: now, skills })
    return skills
  }

  /** The tools by which an agent uses them. Without a skill there are none. */
  async toolsFor(agent: ProcessRecord): Promise<readonly AgentTool[]> {
    if ((await this.lines(agent)).length === 0) return []
    return [this.#useTool(agent), this.#unloadTool(agent)]
  }

  /** What a model has read of these skills. One that is not trusted any more is left out. */
  async texts(
    { cwd }: Pick<ProcessRecord, 'cwd'>,
    names: readonly string[],
  ): Promise<readonly { readonly name: string; readonly text: string }[]> {
    if (names.length === 0) return []
    const trusted = await this.#trusted(cwd)
    return names.flatMap((name) => {
      const skill = trusted.find((one) => one.name === name)
      return skill === undefined ? [] : [{ name, text: textOf(skill) }]
    })
  }

  #useTool({ cwd }: ProcessRecord): AgentTool {
    return agentTool({
      name: USE_SKILL,
      description:
        'Loads a skill: instructions for special work, which stay with you. With `file` it reads a file of the skill; without a name it lists the skills.',
      input: z.strictObject({
        name: z.string().max(64).optional().describe('the name of the skill'),
        file: z.string().max(1_000).optional().describe('a file of the skill, relative to its folder'),
      }),
      recovery: 'rerunnable',
      essential: true,
      needs: async ({ name }) => {
        if (name === undefined) return []
        const { content } = await this.#find(cwd, name)
        return [readOf(name), ...content.allowedTools.map(requestedTool)]
      },
      run: async ({ name, file }) => {
        if (name === undefined) {
          const skills = await this.#trusted(cwd)
          return textOutput(skills.map((one) => `${one.name}: ${one.description}`).join('\n'))
        }
        const skill = await this.#find(cwd, name)
        return textOutput(file === undefined ? textOf(skill) : await fileOf(skill, file))
      },
    })
  }

  #unloadTool(_agent: ProcessRecord): AgentTool {
    return agentTool({
      name: UNLOAD_SKILL,
      description:
        'Unloads a skill that is not needed any more: it does not outlive the next summary of the session.',
      input: z.strictObject({ name: z.string().max(64).describe('the name of the skill') }),
      recovery: 'rerunnable',
      run: ({ name }) => textOutput(`The skill ${name} is unloaded.`),
    })
  }

  async #trusted(cwd: string | null): Promise<readonly Skill[]> {
    const found = await this.#all(cwd)
    const kept: Skill[] = []
    for (const skill of found)
      if (!kept.some(({ name }) => name === skill.name) && (await isFileTrusted(this.#kernel().edges, skill)))
        kept.push(skill)
    return kept
  }

  async #all(cwd: string | null): Promise<readonly Skill[]> {
    const files = (await this.#kernel().edges.agentFiles?.find(cwd, 'skill')) ?? []
    return files.filter(isSkill)
  }

  async #find(cwd: string | null, name: string): Promise<Skill> {
    const trusted = await this.#trusted(cwd)
    const found = trusted.find((one) => one.name === name)
    if (found !== undefined) return found
    if ((await this.#all(cwd)).some((one) => one.name === name)) throw changed(name)
    const near = didYouMean(
      name,
      trusted.map((one) => one.name),
    )
    throw new ToolError('not_found', `There is no skill ${JSON.stringify(name)}.${near}`)
  }
}

function isSkill(file: AgentFile): file is Skill {
  return file.content?.kind === 'skill'
}

function textOf({ name, path, content: { body, files } }: Skill): string {
  const text =
    body.length > MAX_SKILL_CHARS ? `${body.slice(0, MAX_SKILL_CHARS)}\n(The rest is left out.)` : body
  return [
    `# Skill ${name}`,
    text,
    ...(files.length === 0
      ? []
      : [`Files of this skill, in ${path}; read one with ${USE_SKILL} and file:\n${pathsOf(files)}`]),
  ].join('\n\n')
}

function pathsOf(files: Skill['content']['files']): string {
  return files.map(({ path }) => path).join('\n')
}

/** A file that was among those that the trusted hash covers, and is still the same. */
async function fileOf({ name, path, content }: Skill, file: string): Promise<string> {
  const known = content.files.find((one) => one.path === file)
  if (known === undefined) {
    const near = didYouMean(
      file,
      content.files.map((one) => one.path),
    )
    throw new ToolError('not_found', `The skill ${name} has no file ${file}.${near}`)
  }
  const real = await realpath(join(path, file))
  const inside = relative(await realpath(path), real)
  if (inside.startsWith('..') || isAbsolute(inside))
    throw new ToolError('outside_workspace', `${file} is not in the folder of the skill.`)
  const bytes = await readFile(real)
  if (hash('sha256', bytes, 'hex') !== known.hash) throw changed(name)
  return bytes.toString('utf8')
}

function changed(name: string): ToolError {
  return new ToolError(
    'refused',
    `The skill ${name} has changed, or was never trusted. A person can look at it and trust it: reeve skill trust ${name}`,
  )
}

function readOf(name: string): Need {
  return { right: 'read', resource: { kind: 'skill', path: name }, attributes: NO_ATTRIBUTES }
}

/** `allowed-tools` grants nothing: what nothing allows is asked for when the skill is loaded. */
function requestedTool(tool: string): Need {
  const [, server, name] = /^mcp__(.+?)__(.+)$/.exec(tool) ?? []
  const resource =
    name === undefined
      ? ({ kind: 'tool', path: tool } as const)
      : ({ kind: 'mcp', path: `${server}/${name}` } as const)
  return { right: 'execute', resource, attributes: { requested: true } }
}
