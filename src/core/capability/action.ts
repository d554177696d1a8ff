import type { Variables } from '../environment/secrets.ts'
import { canonical } from '../json/canonical.ts'
import { asJson, type Json } from '../json/json.ts'
import type { Pid } from '../process/pid.ts'
import type { Actor, Registration } from '../process/record.ts'
import { type CommandSpec, specOf } from '../process/spec.ts'
import type { AnalysedShell } from './needs.ts'

/**
 * An action that a person approves, with every default filled in. A change of any field is another action; the name, the label and
 * the trace of a process are not part of it.
 */
export interface Action {
  readonly subject: Actor
  readonly parent: Pid | null
  /** The host that it runs on; null if any may. */
  readonly host: string | null
  /** The act, by the kind of the process. */
  readonly act: Act
  readonly cwd: string | null
  /** The hash of all its variables; null if it has no environment of its own. */
  readonly environmentHash: string | null
  readonly sandbox: Json
}

type Act =
  | {
      readonly type: 'command'
      readonly argv?: readonly string[]
      readonly run?: string
      readonly stdin: NonNullable<CommandSpec['stdin']>
      /** It has a terminal, where anything can be typed later. */
      readonly pty?: true
      /** The line that finds out whether it is ready. */
      readonly readyCommand?: string
      /** In the order in which the command names them. */
      readonly programs: readonly ActionProgram[]
    }
  | { readonly type: 'tool'; readonly tool: string; readonly input: Json }
  | { readonly type: 'workflow'; readonly workflow: string; readonly input: Json }
  | { readonly type: 'agent'; readonly agent: string; readonly goal: Json }

/** The act as the audit keeps it: a command's input may be large, and is often a secret. */
export function withoutInput(act: Act): Act | (Omit<Act, 'stdin'> & { readonly stdin: 'text' }) {
  return act.type === 'command' && typeof act.stdin === 'object' ? { ...act, stdin: 'text' } : act
}

/** A program of a command, and the file that the host found for it. */
export interface ActionProgram {
  readonly name: string
  readonly real: string | null
  /** What tells this content of the file from another one. */
  readonly identity: string | null
}

/** What the host that runs a command found out about it, before it is ruled on. */
export interface ResolvedAction {
  readonly shell: AnalysedShell
  readonly programs: readonly ActionProgram[]
  readonly cwd: string | null
  readonly environmentHash: string
  /** The variables that a person sees: those that the request sets, and of the others those that change which code runs. */
  readonly variables: Variables
  /** The names of the variables that the request sets. */
  readonly env: readonly string[]
  /** Those of them that can make a program load or start other code than it does without them. */
  readonly codeVariables: readonly string[]
  /** They set a `PATH` with further folders, in which all programs of the command are the files that they are without it. */
  readonly widerPath?: boolean
  /** The variables of its environment that count as set by the request, if the request names that environment. */
  readonly ofEnvironment?: Pick<ResolvedAction, 'env' | 'codeVariables' | 'widerPath'>
}

/** Stands for a command that no host has resolved: it may do everything. */
export const UNANALYSED: ResolvedAction = {
  shell: { type: 'opaque', reason: 'It was not analysed.', commands: [], writes: [] },
  programs: [],
  cwd: null,
  environmentHash: '',
  variables: {},
  env: [],
  codeVariables: [],
}

/** The action of a registration. `resolved`: of a command. */
export function actionOf(
  registration: Pick<Registration, 'kind' | 'spec' | 'parent' | 'cwd' | 'envRef'>,
  subject: Actor,
  host: string | null,
  resolved: ResolvedAction | null,
): Action | null {
  const { parent, cwd, envRef } = registration
  const act = actOf(registration, resolved)
  if (act === null) return null
  return {
    subject,
    parent,
    host,
    act,
    cwd: resolved === null ? cwd : resolved.cwd,
    environmentHash: resolved === null ? envRef : resolved.environmentHash,
    sandbox: null,
  }
}

function actOf(process: Pick<Registration, 'kind' | 'spec'>, resolved: ResolvedAction | null): Act | null {
  switch (process.kind) {
    case 'command': {
      const { argv, run, stdin = 'null', ready, pty = false } = specOf(process, 'command')
      const check = ready !== undefined && 'command' in ready ? { readyCommand: ready.command } : {}
      const what = argv === undefined ? { run: run ?? '' } : { argv }
      const terminal = pty === false ? {} : ({ pty: true } as const)
      return { type: 'command', ...what, stdin, ...terminal, ...check, programs: resolved?.programs ?? [] }
    }
    case 'tool': {
      const { tool, input = null } = specOf(process, 'tool')
      return { type: 'tool', tool, input }
    }
    case 'workflow': {
      const { workflow, input = null } = specOf(process, 'workflow')
      return { type: 'workflow', workflow, input }
    }
    case 'agent': {
      const { agent, goal = null } = specOf(process, 'agent')
      return { type: 'agent', agent, goal }
    }
    case 'external':
      return null
  }
}

/** Raised when the text of an action changes: what was approved before is then asked again. */
const VERSION = 1

/** The text whose hash is the action hash. Equal actions have equal texts, in every order of their fields. */
export function actionText(action: Action): string {
  return canonical(asJson({ version: VERSION, ...action }))
}

/** The text whose hash tells whether a command starts the files that rules have ruled on, in the same folder. */
export function filesText({ cwd, programs }: Pick<ResolvedAction, 'cwd' | 'programs'>): string {
  return canonical(asJson({ version: VERSION, cwd, programs }))
}

/** The asker of an action, for the grants that remember an answer. */
export interface Asker {
  readonly session: string | null
  /** The nearest process above the action that is not a tool: each call of a tool is another process. */
  readonly above: Pid | null
}

/** What makes a later action the same one, for each grant that remembers an answer; null where the grant makes no sense. */
export interface RepeatTexts {
  readonly process: string | null
  readonly session: string | null
  readonly always: string
}

/**
 * The texts whose hashes are compared with the constraint `action`. All cover the host, the command with its input, the files of
 * its programs, the folder and the sandbox.
 *
 * | grant   | the asker                                  | variables                                             |
 * | process | the same subject, below the same process   | all                                                   |
 * | session | anything that acts for the same session    | all                                                   |
 * | always  | any                                        | those that are shown: the rest differs after a login  |
 *
 * `chosen`: where the request takes variables from, such as a named environment.
 */
export function repeatTexts(
  action: Action,
  { session, above }: Asker,
  resolved: (Pick<ResolvedAction, 'variables' | 'env'> & { readonly chosen: Json }) | null,
): RepeatTexts {
  const { subject, parent: _parent, ...same } = action
  const { environmentHash: _hash, ...anyLogin } = same
  const text = (grant: string, parts: object) => canonical(asJson({ version: VERSION, grant, ...parts }))
  return {
    process: subject.startsWith('process:') ? text('process', { ...same, subject, above }) : null,
    session: session === null ? null : text('session', { ...same, session }),
    always: text(
      'always',
      resolved === null
        ? same
        : { ...anyLogin, variables: resolved.variables, env: resolved.env, chosen: resolved.chosen },
    ),
  }
}
