import { canonical } from '../json/canonical.ts'
import { asJson, type Json } from '../json/json.ts'
import type { Pid } from '../process/pid.ts'
import type { Actor } from '../process/record.ts'
import type { CommandSpec } from '../process/spec.ts'

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
interface ActionProgram {
  readonly name: string
  readonly real: string | null
  /** What tells this content of the file from another one. */
  readonly identity: string | null
}

/** Raised when the text of an action changes: what was approved before is then asked again. */
const VERSION = 1

/** The text whose hash is the action hash. Equal actions have equal texts, whatever the order of their fields. */
export function actionText(action: Action): string {
  return canonical(asJson({ version: VERSION, ...action }))
}
