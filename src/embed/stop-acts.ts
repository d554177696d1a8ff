import type { Commands } from '../command/commands.ts'
import { alreadyEnded, notOurs, whileUp } from '../command/keeper-answer.ts'
import { ReeveError, RefusedError } from '../core/errors.ts'
import { anew } from '../core/process/anew.ts'
import type { Pid } from '../core/process/pid.ts'
import { type Actor, hasEnded, type ProcessRecord } from '../core/process/record.ts'
import { isRefusal, refusal } from '../core/refusal.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { Done } from '../kernel/perform.ts'
import { resolve } from '../kernel/resolve.ts'
import { interruptScope, type StopReport, visible } from '../kernel/stop-scope.ts'
import type { OutputOf, ParsedInputOf } from '../verbs/reeve.ts'
import { type ActsFor, readerFor } from './act.ts'
import { commandIn } from './command-in.ts'
import { registering, spawnAnswer, whenBegun } from './spawn-acts.ts'

/** What the keeper needs beyond the grace, to force and to look: ten seconds at most, and a moment to say so. */
const FORCE_MS = 12_000
/** How long a kill that never forces waits for the process to do as it was asked. */
const ASKED_MS = 2_000
const KILLED_AT_ONCE = 16
const LISTED = { ended: 'signalled', asked: 'asked', already_ended: 'alreadyEnded' } as const

export function stopActs(
  kernel: Kernel,
  actor: Actor,
  commands: Commands | undefined,
): ActsFor<'signal' | 'kill' | 'killAll' | 'interrupt' | 'restart'> {
  const { edges } = kernel
  const read = readerFor(kernel, actor)
  const asked = (pid: Pid) => ({ pid, actor, at: edges.clock.now() }) as const

  const kill = async (pid: Pid, reason: string, graceMs: number | undefined): Promise<OutputOf<'kill'>> => {
    const performed = await kernel.perform({
      ...asked(pid),
      type: 'stop',
      how: 'kill',
      reason,
      cause: null,
      replayKey: `kill:${edges.newId()}`,
      ...(graceMs === undefined ? {} : { graceMs }),
    })
    const { record } = performed.row
    const grace = graceMs ?? commands?.graceOf(record) ?? 0
    const timeoutMs = grace === 0 ? ASKED_MS : grace + FORCE_MS
    if (hasEnded(record) && performed.type === 'kept') {
      const isOver = (await commands?.endLeftBehind(record, grace, timeoutMs)) ?? true
      return { answer: isOver ? 'already_ended' : 'asked', record }
    }
    const waited = await kernel.waitForEnd(pid, { timeoutMs })
    const isDone = waited.type === 'done'
    // Its program may have ended long before the last of what that started. Who is never forced may take its time.
    const isOver =
      isDone || grace > 0 ? ((await commands?.isEndOver(record, isDone ? timeoutMs : 0)) ?? true) : false
    if (isDone && isOver) return { answer: 'ended', record: waited.value.record }
    return { answer: 'asked', record: await read(pid) }
  }

  return {
    async signal({ pid, signal, to, reason, replayKey }) {
      const found = await resolve(edges, actor, pid)
      if (signal === 'pause' || signal === 'resume')
        return signalAnswer(await kernel.perform({ ...asked(found), type: signal }))
      if (signal !== 'interrupt' && signal !== 'cancel' && signal !== 'kill') {
        const record = await read(found)
        const denied = edges.authorize(actor, 'signal', { type: 'process', record })
        if (denied !== undefined) throw new RefusedError(denied)
        return osSignal(commandIn(commands, record), record, signal, to)
      }
      const performed = await kernel.perform({
        ...asked(found),
        type: 'stop',
        how: signal,
        reason: reason ?? `${signal} by ${actor}`,
        cause: null,
        replayKey: replayKey ?? `${signal}:${edges.newId()}`,
      })
      const { record } = performed.row
      if (!hasEnded(record) || performed.type !== 'kept') return signalAnswer(performed)
      if (signal === 'interrupt') throw new RefusedError(alreadyEnded(record))
      return { answer: 'already_ended', record }
    },
    async kill({ pid, graceMs, reason }) {
      return kill(await resolve(edges, actor, pid), reason ?? `kill by ${actor}`, graceMs)
    },
    async killAll({ filter, graceMs, reason }) {
      const records = await visible(edges, actor, filter ?? {}, Number.POSITIVE_INFINITY)
      const report: StopReport & { readonly asked: Pid[] } = {
        matched: records.length,
        signalled: [],
        asked: [],
        alreadyEnded: [],
        stale: [],
        failed: [],
      }
      const next = records.values()
      const killSome = async () => {
        for (const { pid } of next) {
          try {
            const { answer } = await kill(pid, reason ?? `kill of all by ${actor}`, graceMs)
            report[LISTED[answer]].push(pid)
          } catch (error) {
            if (!(error instanceof ReeveError)) throw error
            report.failed.push({ pid, code: error.code, message: error.message })
          }
        }
      }
      await Promise.all(Array.from({ length: KILLED_AT_ONCE }, killSome))
      return report
    },
    async interrupt({ scope, reason, tree }) {
      const report = await interruptScope(kernel, actor, scope, {
        reason: reason ?? `interrupt by ${actor}`,
        tree,
      })
      if (isRefusal(report)) throw new RefusedError(report)
      return report
    },
    async restart({ pid, graceMs }) {
      const old = await read(pid)
      if (!hasEnded(old)) {
        const { answer } = await kill(old.pid, `restart by ${actor}`, graceMs)
        if (answer === 'asked') throw new RefusedError(stillThere(old.pid))
      }
      const parent = old.parent === null ? null : await edges.store.ask({ ask: 'process', pid: old.parent })
      const hasParent = parent !== null && !hasEnded(parent.record) && parent.record.status !== 'stopping'
      const request = anew(old, hasParent) as ParsedInputOf<'spawn'>
      const [registered] = await kernel.register([registering(request, actor, commands)])
      const { record } = await whenBegun(kernel, commands, spawnAnswer(registered))
      return { record }
    },
  }
}

async function osSignal(
  commands: Commands,
  record: ProcessRecord,
  signal: string,
  to: 'process' | 'group',
): Promise<OutputOf<'signal'>> {
  if (hasEnded(record)) throw new RefusedError(alreadyEnded(record))
  const { sent } = await whileUp(
    record,
    commands.keeperOf(record.pid).ask('signal', { pid: record.pid, signal, to }),
  )
  if (sent === 'ended') throw new RefusedError(alreadyEnded(record))
  if (sent === 'not_ours') throw new RefusedError(notOurs(record.pid))
  return { answer: 'signalled', record }
}

function signalAnswer({ type, row }: Done): OutputOf<'signal'> {
  return { answer: type === 'appended' ? 'signalled' : 'unchanged', record: row.record }
}

function stillThere(pid: Pid) {
  return refusal(
    'stopping',
    `${pid} was asked to end, and is not gone yet: no second one was started beside it.`,
    'Wait for its end and restart it then, or give a graceMs after which it is forced.',
  )
}
