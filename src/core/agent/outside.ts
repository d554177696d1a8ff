import type { Json, JsonObject } from '../json/json.ts'
import { type OutsideProgramSpec, specOf } from '../process/spec.ts'

/** The beginning of the model of agents that are programs of their own: `acp/claude-code`. */
const PREFIX = 'acp/'

/** The program of an outside agent, which speaks the Agent Client Protocol. */
export interface OutsideProgram {
  readonly name: string
  readonly command: OutsideProgramSpec
  /** How a person installs it; null for a program of the user. */
  readonly install: string | null
  /** The command that signs a person in; null for a program of the user. */
  readonly signIn: string | null
}

interface KnownProgram {
  readonly argv: readonly string[]
  readonly install: string
  readonly signIn: string
}

/** Programs that a name is enough for. */
const KNOWN = {
  'claude-code': {
    argv: ['claude-agent-acp'],
    install: 'npm install -g @agentclientprotocol/claude-agent-acp',
    signIn: 'claude-agent-acp --cli auth login',
  },
  codex: {
    argv: ['codex-acp'],
    install: 'npm install -g @agentclientprotocol/codex-acp',
    signIn: 'codex-acp cli login',
  },
  gemini: { argv: ['gemini', '--acp'], install: 'npm install -g @google/gemini-cli', signIn: 'gemini' },
  goose: {
    argv: ['goose', 'acp'],
    install: 'see https://block.github.io/goose',
    signIn: 'goose configure',
  },
  opencode: {
    argv: ['opencode', 'acp'],
    install: 'npm install -g opencode-ai',
    signIn: 'opencode auth login',
  },
  qwen: { argv: ['qwen', '--acp'], install: 'npm install -g @qwen-code/qwen-code', signIn: 'qwen' },
} as const satisfies Readonly<Record<string, KnownProgram>>

export const OUTSIDE_NAMES: readonly string[] = Object.keys(KNOWN)

export function isOutsideModel(model: Json | undefined): model is string {
  return typeof model === 'string' && model.startsWith(PREFIX)
}

/** The program of an outside agent. Null: its model names no known program, and its spec has none. */
export function outsideProgramOf(spec: JsonObject): OutsideProgram | null {
  const { model = '', program } = specOf({ kind: 'agent', spec }, 'agent')
  const name = model.slice(PREFIX.length)
  if (program !== undefined) return { name, command: program, install: null, signIn: null }
  const known = Object.hasOwn(KNOWN, name) ? KNOWN[name as keyof typeof KNOWN] : undefined
  if (known === undefined) return null
  const { argv, install, signIn } = known
  return { name, command: { argv }, install, signIn }
}

/** What a person does who has not signed in. */
export function signInRemedy(program: OutsideProgram | null): string {
  const how = program?.signIn == null ? ', with its own program' : `: ${program.signIn}`
  return `Sign in first${how}. Then give the agent its input again.`
}

/** What is wrong with such a model, and the remedy. */
export function unknownOutside(model: string): [message: string, remedy: string] {
  return [
    `Reeve knows no outside agent ${model}.`,
    `Name one of ${OUTSIDE_NAMES.map((name) => `${PREFIX}${name}`).join(', ')}, or give spec.program.`,
  ]
}

/** Its cost is known when it is spent, so a budget could not stop it before. */
export function unbudgeted(model: string): [message: string, remedy: string] {
  return [
    `${model} is a program of its own, whose cost is not known before, and this agent has a budget of cost.`,
    'Leave the budget of cost out.',
  ]
}

/**
 * The conversation of an outside agent with its program: everything that the next holder needs to go on with it. It is written in the
 * commit of the entries that it belongs to.
 */
export interface ProgramState {
  /** The command that the program is. */
  readonly pid: string
  /** The program's id of the session. */
  readonly session: string
  /** What the program can do, of `load`, `resume`, `image` and `context`. */
  readonly can: readonly string[]
  /** The end of the output that was taken, in its log. */
  readonly offset: number
  /** The last entry that a prompt has told the program. */
  readonly told: number
  /** The cost of the agent before the program began to count that of its session, in dollars; absent if there was none. */
  readonly costBefore?: number
  /** The prompt that the program has not answered. */
  readonly prompt: OpenPrompt | null
  /** Permissions that the program waits for. */
  readonly permissions: readonly OpenPermission[]
  /** The last short message to the program: it may not have been written before a crash. */
  readonly sent: { readonly seq: number; readonly message: JsonObject } | null
}

interface OpenPrompt {
  readonly turn: number
  /** The model call that it began with. */
  readonly call: number
  /** The number of its write: `seq` of the event that noted it. */
  readonly seq: number
  /** It tells the entries behind this one, up to `told`. */
  readonly after: number
  /** The program knew nothing of the session before. */
  readonly isFirst: boolean
}

export interface OpenPermission {
  readonly id: string | number
  /** The process that asks a person. */
  readonly question: string
  readonly options: readonly PermissionOption[]
}

export interface PermissionOption {
  readonly id: string
  /** The choice as people see it: each is another text. */
  readonly name: string
  readonly kind: string
}

/** Permissions that one program may wait for. A further one is answered as cancelled. */
export const MAX_PERMISSIONS = 16
