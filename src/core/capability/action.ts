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
  /** What is done, by the kind of the process. */
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
      /** In the order in which the command names them. */
      readonly programs: readonly ActionProgram[]
    }
  | { readonly type: 'tool'; readonly tool: string; readonly input: Json }
  | { readonly type: 'workflow'; readonly workflow: string; readonly input: Json }
  | { readonly type: 'agent'; readonly agent: string; readonly goal: Json }

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
  /** The names of the variables that the request sets. */
  readonly env: readonly string[]
  /** Those of them that can make a program load or start other code. */
  readonly codeVariables: readonly string[]
  /** The variables of its environment that count as set by the request, if the request names that environment. */
  readonly ofEnvironment?: Pick<ResolvedAction, 'env' | 'codeVariables'>
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
      const { argv, run, stdin = 'null' } = specOf(process, 'command')
      const what = argv === undefined ? { run: run ?? '' } : { argv }
      return { type: 'command', ...what, stdin, programs: resolved?.programs ?? [] }
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

/** The text whose hash is the action hash. Equal actions have equal texts, whatever the order of their fields. */
export function actionText(action: Action): string {
  return canonical(asJson({ version: VERSION, ...action }))
}
