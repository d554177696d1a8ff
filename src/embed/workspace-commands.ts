import type { AgentCommand } from '../actions/agent-facts.ts'
import { invalidRequest } from '../core/agent/refusals.ts'
import { USE_SKILL } from '../core/agent/skills.ts'
import { expandCommand } from '../core/agent/slash-command.ts'
import type { AgentFile } from '../core/agent-file/agent-file.ts'
import { RefusedError } from '../core/errors.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import { isFileTrusted } from '../kernel/file-trust.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { isElsewhere } from './agent-references.ts'

/**
 * The slash commands that files near the folder of an agent, and of the home, define. A skill is one, too. Of several with one name the
 * nearest counts that a person trusts; one that is not trusted is inert: it is refused, and says how to trust it.
 */
export async function workspaceCommands(
  { edges, host }: Kernel,
  agent: ProcessRecord,
): Promise<readonly AgentCommand[]> {
  if (isElsewhere(agent, { host })) return []
  const found = await Promise.all([
    edges.agentFiles?.find(agent.cwd, 'command') ?? [],
    edges.agentFiles?.find(agent.cwd, 'skill') ?? [],
  ])
  const files = found.flat().filter(({ problem }) => problem === null)
  const known = new Map<string, AgentCommand>()
  for (const file of files) {
    const isInert = known.get(file.name)?.isInert
    if (isInert === false) continue
    const isTrusted = await isFileTrusted(edges, file)
    if (isTrusted || isInert === undefined) known.set(file.name, commandOf(agent, file, isTrusted))
  }
  return [...known.values()]
}

function commandOf(agent: ProcessRecord, file: AgentFile, isTrusted: boolean): AgentCommand {
  const { name, description, content } = file
  return {
    name,
    description: [content?.kind === 'command' ? content.argumentHint : '', description].join(' ').trim(),
    source: file.kind === 'skill' ? 'skill' : file.workspace === null ? 'home' : 'workspace',
    arguments: [],
    isInert: !isTrusted,
    resolve(text) {
      if (!isTrusted) return Promise.reject(new RefusedError(inert(agent, file)))
      return Promise.resolve([{ type: 'text', text: expandCommand(bodyOf(file), text) }])
    },
  }
}

/** A skill is loaded by the agent: its rules decide, and the skill stays with it. */
function bodyOf({ name, content }: AgentFile): string {
  return content?.kind === 'command'
    ? content.body
    : `Use the skill ${name}: call ${USE_SKILL} with its name, and do what it says.`
}

function inert(agent: ProcessRecord, { kind, name, path, hash }: AgentFile) {
  const refused = invalidRequest(
    agent,
    `the ${kind} /${name} is in ${path}, which no person has trusted in this version`,
    `A person looks at it, and runs reeve trust ${path} --hash ${hash.slice(0, SHOWN_HASH_CHARS)}`,
  )
  return { ...refused, details: { problem: 'untrusted_command', command: name, path, hash } }
}

const SHOWN_HASH_CHARS = 12
