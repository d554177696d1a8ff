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

/** The image of a `.claude/agents/*.md` file. Fields that mean nothing here are left out: none of them grants anything. */
export function imageOfClaudeAgent(
  { name, description, tools, model }: Readonly<Record<string, unknown>>,
  system: string,
): Readonly<Record<string, unknown>> {
  const named = toolsOf(tools)
  const chosen = typeof model === 'string' ? modelOf(model.trim()) : undefined
  return {
    ...(name === undefined ? {} : { name }),
    ...(typeof description === 'string' ? { description: description.slice(0, MAX_DESCRIPTION_CHARS) } : {}),
    ...(system === '' ? {} : { system }),
    ...(named === null ? {} : { tools: named }),
    ...(chosen === undefined ? {} : { models: [chosen] }),
  }
}

/** The tools that a list names, here: a text with commas, or a list. What is in parentheses is a rule of the other program. */
function toolsOf(tools: unknown): readonly string[] | null {
  const names =
    typeof tools === 'string'
      ? tools.split(/,(?![^(]*\))/)
      : Array.isArray(tools)
        ? tools.filter((one) => typeof one === 'string')
        : null
  if (names === null) return null
  const own = names
    .map((one) => one.replace(/\(.*\)$/s, '').trim())
    .filter((one) => one !== '')
    .flatMap((one) => (Object.hasOwn(TOOLS, one) ? (TOOLS[one] ?? []) : [one]))
  return [...new Set(own)]
}

const MAX_DESCRIPTION_CHARS = 2_000

/** `inherit`, and names that are not known, leave the choice to the caller. */
function modelOf(name: string): string | undefined {
  if (Object.hasOwn(MODELS, name)) return MODELS[name]
  if (/^claude-[\w.-]+$/.test(name)) return `anthropic/${name}`
  return /^[^\s/]+\/\S+$/.test(name) ? name : undefined
}
