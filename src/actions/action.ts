import type { Commands } from '../command/commands.ts'
import type { Seat } from '../core/authority/person.ts'
import { RefusedError } from '../core/errors.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor, ProcessRecord } from '../core/process/record.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import type { Trouble } from '../core/trouble/trouble.ts'
import { refuseAct } from '../kernel/audit.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { prunedPid } from '../kernel/perform.ts'
import { permitSignal } from '../kernel/permit-signal.ts'
import { refuseRead, resolve } from '../kernel/resolve.ts'
import type { CallOptions, OutputOf, ParsedInputOf, VerbName } from '../verbs/reeve.ts'
import type { AgentFacts } from './agent-facts.ts'
import type { AuditAnchors } from './audit.ts'
import type { ExternalStops } from './external-stops.ts'
import type { AnswerMasker } from './mask-answers.ts'
import type { ReadEffects } from './read-effects.ts'
import type { Retention } from './retention.ts'
import type { Reveals } from './reveal.ts'
import type { WaitTimes } from './wait-times.ts'

/** Performs one verb. Its input has been parsed; a refusal is thrown. */
type Action<Name extends VerbName> = (
  input: ParsedInputOf<Name>,
  options: CallOptions,
) => Promise<OutputOf<Name>>

export type ActionsFor<Names extends VerbName> = { readonly [Name in Names]: Action<Name> }

/** The parts that the actions of one actor work with. */
export interface ActionParts {
  readonly kernel: Kernel
  readonly actor: Actor
  /** Who is behind the calls. */
  readonly seat: Seat
  /** Undefined where this program runs no commands. */
  readonly commands: Commands | undefined
  readonly externals: ExternalStops
  readonly waits: WaitTimes
  readonly reveals: Reveals
  readonly masker: Pick<AnswerMasker, 'text' | 'answer'>
  readonly effects: ReadEffects
  readonly retention: Retention
  /** Undefined where no anchors are noted. */
  readonly anchoring: AuditAnchors | undefined
  readonly troubles: () => Trouble[]
  /** Absent where this program drives no agents. */
  readonly agents?: AgentFacts
  /** The version of this package. */
  readonly version: () => string
}

type Asking = Pick<ActionParts, 'kernel' | 'actor'>

export function throwIfRefused(refused: Refusal | undefined): void {
  if (refused !== undefined) throw new RefusedError(refused)
}

export function permitOnStore({ kernel, actor }: Asking, right: 'read' | 'write' | 'admin'): void {
  throwIfRefused(kernel.edges.authorize(actor, right, { type: 'store' }))
}

/** For acts on the whole store: the audit has the actors that tried them without the right to. */
export async function permitOrAudit(
  { kernel, actor }: Asking,
  action: VerbName,
  right: 'write' | 'admin' = 'admin',
): Promise<void> {
  const { edges } = kernel
  const denied = edges.authorize(actor, right, { type: 'store' })
  await refuseAct(edges, denied, { actor, action, target: 'store' })
}

/** For acts on a process that need no plan: the audit has the actors that tried them without the right to. */
export async function permitOnProcess(
  { kernel, actor }: Asking,
  action: string,
  right: 'signal' | 'write',
  record: ProcessRecord,
): Promise<void> {
  const { edges } = kernel
  const denied = edges.authorize(actor, right, { type: 'process', record })
  await refuseAct(edges, denied, { actor, action, target: `process:${record.pid}` })
}

/** The process that a signal is for, if the actor owns it or a rule names it. */
export async function signalledBy(
  { kernel, actor }: Asking,
  action: string,
  pid: Pid,
): Promise<ProcessRecord> {
  const row = await kernel.edges.store.ask({ ask: 'process', pid })
  if (row === null) throw new RefusedError(await missing(kernel, pid))
  await permitSignal(kernel.edges, actor, action, row.record)
  return row.record
}

/** A session reads about itself and the sessions below it. */
export async function permitOnSession({ kernel, actor }: Asking, id: string): Promise<void> {
  const { authorize, store } = kernel.edges
  if (authorize(actor, 'read', { type: 'session', id }) === undefined) return
  const sessionsAbove = (await store.ask({ ask: 'session', id }))?.sessionsAbove ?? []
  throwIfRefused(authorize(actor, 'read', { type: 'session', id, sessionsAbove }))
}

/** Resolves a pid, the beginning of one, or a name. */
export function finderFor({ kernel, actor }: Asking): (text: string) => Promise<Pid> {
  return (text) => resolve(kernel.edges, actor, text)
}

/**
 * Reads a process by pid, beginning of one, or name, if the actor may see it. `action`: the act that it is read for; the audit has it if
 * the actor may not see the process. A denied look is not in the audit.
 */
export function readerFor(
  { kernel, actor }: Asking,
  action?: string,
): (text: string) => Promise<ProcessRecord> {
  const { edges } = kernel
  return async (text) => {
    const pid = await resolve(edges, actor, text)
    const row = await edges.store.ask({ ask: 'process', pid })
    if (row === null) throw new RefusedError(await missing(kernel, pid))
    const refused = await refuseRead(edges, actor, row.record)
    if (action !== undefined) await refuseAct(edges, refused, { actor, action, target: `process:${pid}` })
    throwIfRefused(refused)
    return row.record
  }
}

async function missing(kernel: Kernel, pid: Pid): Promise<Refusal> {
  const tombstone = await kernel.edges.store.ask({ ask: 'tombstone', pid })
  return tombstone === null
    ? refusal('unknown_pid', `There is no process ${pid}.`, 'List the processes to see which there are.')
    : prunedPid(pid)
}

/** The members that every intent of this actor has. */
export function asked({ kernel, actor }: Asking, pid: Pid) {
  return { pid, actor, at: kernel.edges.clock.now() } as const
}
