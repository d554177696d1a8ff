import type { Commands } from '../command/commands.ts'
import { RefusedError } from '../core/errors.ts'
import type { Pid } from '../core/process/pid.ts'
import { hasEnded, type ProcessRecord } from '../core/process/record.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import { FORCE_AFTER_MS } from '../external/external-processes.ts'
import type { StopIntent } from '../kernel/unrecorded-stop.ts'
import type { OutputOf } from '../verbs/reeve.ts'
import { type ActionParts, type ActionsFor, asked, finderFor, readerFor } from './action.ts'
import { type AskedStop, askToStop } from './ask-stop.ts'
import { isTracked, notSignalled } from './external-stops.ts'
import { killAll } from './kill-all.ts'

/** The keeper needs up to ten seconds beyond the grace to force the end and to check it, and a moment to answer. */
const FORCE_MS = 12_000
/** How long a kill waits for a process that is never forced: a command without a grace, or an external process. */
const ASKED_MS = 2_000
/** A keeper that has ended a program answers within this time, even if the time of the kill is over. */
const ANSWER_MS = 1_000

export function killActions(parts: ActionParts): ActionsFor<'kill' | 'killAll'> {
  const { actor } = parts
  const find = finderFor(parts)
  const kills = new Kills(parts)
  return {
    async kill({ pid, graceMs, reason }) {
      return kills.kill(await find(pid), reason ?? `kill by ${actor}`, graceMs)
    },
    async killAll({ filter, graceMs, reason }) {
      return killAll(parts, kills, filter ?? {}, { reason: reason ?? `kill of all by ${actor}`, graceMs })
    },
  }
}

/** A process that was asked to end. */
export interface AskedKill extends AskedStop {
  readonly graceMs: number
  readonly askedAt: number
  /** The kill waits for the end until then. */
  readonly waitUntil: number
}

/** Ends processes on behalf of one actor: asks each, and waits for its end. */
export class Kills {
  readonly #parts: ActionParts

  constructor(parts: ActionParts) {
    this.#parts = parts
  }

  async kill(pid: Pid, reason: string, graceMs: number | undefined): Promise<OutputOf<'kill'>> {
    const stop = await askToStop(this.#parts.kernel, this.intent(pid, reason, graceMs))
    return this.awaitEnd(this.asked(stop, graceMs))
  }

  intent(pid: Pid, reason: string, graceMs: number | undefined): StopIntent {
    return {
      ...asked(this.#parts, pid),
      type: 'stop',
      how: 'kill',
      reason,
      cause: null,
      replayKey: `kill:${this.#parts.kernel.edges.newId()}`,
      ...(graceMs === undefined ? {} : { graceMs }),
    }
  }

  asked({ how, record }: AskedStop, givenMs: number | undefined): AskedKill {
    const graceMs = givenMs ?? defaultGraceOf(record, this.#parts.commands)
    const askedAt = this.#now()
    return { how, record, graceMs, askedAt, waitUntil: askedAt + patienceMs(graceMs) }
  }

  async awaitEnd(one: AskedKill): Promise<OutputOf<'kill'>> {
    const { kernel, commands, externals } = this.#parts
    const { how, record, graceMs, askedAt } = one
    if (how === 'unrecorded') return this.#awaitUnrecorded(one)
    let { waitUntil } = one
    const isExternal = record.kind === 'external'
    if (isExternal && !hasEnded(record)) {
      const reached = await externals.reach(record)
      if (reached === 'forbidden') throw new RefusedError(notSignalled(record.pid))
      // A process that was not reached is never forced: waiting for the whole grace would be in vain.
      if (reached !== 'delivered' && reached !== 'ended') waitUntil = Math.min(waitUntil, askedAt + ASKED_MS)
    }
    const leftMs = () => Math.max(0, waitUntil - this.#now())
    if (hasEnded(record) && how === 'kept') {
      const isOver = (await commands?.endLeftBehind(record, graceMs, patienceMs(graceMs))) ?? true
      return { type: isOver ? 'already_ended' : 'asked', record }
    }
    const waited = await kernel.waits.forEnd(record.pid, { timeoutMs: leftMs() })
    const isDone = waited.type === 'done'
    // The program may end long before the last of its descendants. A command that is never forced may take its time.
    const isOver =
      !isExternal && (isDone || graceMs > 0)
        ? ((await commands?.isEndOver(record, isDone ? Math.max(leftMs(), ANSWER_MS) : 0)) ?? true)
        : isDone
    if (isDone && isOver) return { type: 'ended', record: waited.value.record }
    return { type: 'asked', record: await this.#read(record.pid) }
  }

  async #awaitUnrecorded({ record, waitUntil }: AskedKill): Promise<OutputOf<'kill'>> {
    const { commands } = this.#parts
    const isOver = (await commands?.isEndOver(record, Math.max(0, waitUntil - this.#now()))) ?? true
    // The store may take writes again by now.
    const now = await this.#read(record.pid)
    if (hasEnded(now)) return { type: 'ended', record: now }
    return { type: isOver ? 'unrecorded' : 'asked', record: now }
  }

  #read(pid: Pid): Promise<ProcessRecord> {
    return readerFor(this.#parts)(pid)
  }

  #now(): number {
    return this.#parts.kernel.edges.clock.now()
  }
}

function patienceMs(graceMs: number): number {
  return graceMs === 0 ? ASKED_MS : graceMs + FORCE_MS
}

/** 0 for an external process that is not tracked: it cannot be forced, so a grace would only delay the answer. */
function defaultGraceOf(record: ProcessRecord, commands: Commands | undefined): number {
  if (record.kind !== 'external') return commands?.graceOf(record) ?? 0
  return isTracked(record) ? FORCE_AFTER_MS : 0
}

export function stillThere(pid: Pid): Refusal {
  return refusal(
    'stopping',
    `${pid} was asked to end, and is not gone yet: no second one was started beside it.`,
    'Wait for its end and restart it then, or give a graceMs after which it is forced.',
  )
}
