import { IMAGE_NAME } from '../core/image/image.ts'

/** Names of tools in files of Claude Code, and the tools that do the same here. */
const TOOLS: Readonly<Record<string, readonly string[]>> = {
  Read: ['read_file'],
  Write: ['write_file'],
  Edit: ['edit_file'],
  MultiEdit: ['edit_file'],
  Glob: ['list_files'],
  LS: ['list_files'],
  Grep: ['search_files'],
  Bash: ['run_command', 'command_output', 'command_input', 'stop_command'],
  BashOutput: ['command_output'],
  KillShell: ['stop_command'],
  WebFetch: ['web_fetch'],
  TodoWrite: ['plan'],
  AskUserQuestion: ['ask_human'],
  Skill: ['use_skill'],
}

const MODELS: Readonly<Record<string, string>> = {
  opus: 'anthropic/claude-opus-5-5',
  sonnet: 'anthropic/claude-sonnet-5-5',
  haiku: 'anthropic/claude-haiku-5-5',
}

/**
 * The image of a `.claude/agents/*.md` file. Fields that mean nothing here are left out: none of them grants anything. One whose name
 * cannot be the name of an image is named after its file.
 */
export function imageOfClaudeAgent(
  { name, description, tools, disallowedTools, model }: Readonly<Record<string, unknown>>,
  system: string,
): Readonly<Record<string, unknown>> {
  const named = allowedTools(toolsOf(tools), toolsOf(disallowedTools) ?? [])
  const chosen = typeof model === 'string' ? modelOf(model.trim()) : undefined
  return {
    ...(typeof name === 'string' && IMAGE_NAME.test(name) ? { name } : {}),
    ...(typeof description === 'string' ? { description: description.slice(0, MAX_DESCRIPTION_CHARS) } : {}),
    ...(system === '' ? {} : { system }),
    ...(named === null ? {} : { tools: named }),
    ...(chosen === undefined ? {} : { models: [chosen] }),
  }
}

/** Null: all. Without a list of those that are allowed, all that are known are left. */
function allowedTools(named: readonly string[] | null, denied: readonly string[]): readonly string[] | null {
  const allowed = named?.includes(ALL) === true ? null : named
  if (denied.length === 0) return allowed
  if (denied.includes(ALL)) return []
  return (allowed ?? [...new Set(Object.values(TOOLS).flat())]).filter((one) => !denied.includes(one))
}

const ALL = '*'

/** The tools that a list names, here: a text with commas, or a list. What is in parentheses is a rule of the other program. */
function toolsOf(tools: unknown): readonly string[] | null {
  const names =
    typeof tools === 'string'
      ? tools.split(/,(?![^(]*\))/)
      : Array.isArray(tools)
        ? tools.filter((one) => typeof one === 'string')
        : null
  if (names === null) return null
  const given = names.map((one) => one.replace(/\(.*\)$/s, '').trim()).filter((one) => one !== '')
  const own = given.flatMap((one) => (Object.hasOwn(TOOLS, one) ? (TOOLS[one] ?? []) : [one]))
  return [...new Set(own)]
}

/** The tool here that does the work of one of the other program, without the rule in parentheses behind its name. */
export function toolHere(given: string): string {
  const name = given.replace(/\(.*\)$/s, '')
  return (Object.hasOwn(TOOLS, name) ? TOOLS[name]?.[0] : undefined) ?? name
}

const MAX_DESCRIPTION_CHARS = 2_000

/** `inherit`, and names that are not known, leave the choice to the caller. */
function modelOf(name: string): string | undefined {
  if (Object.hasOwn(MODELS, name)) return MODELS[name]
  if (/^claude-[\w.-]+$/.test(name)) return `anthropic/${name}`
  return /^[^\s/]+\/\S+$/.test(name) ? name : undefined
}
