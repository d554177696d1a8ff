import type { Commands } from '../command/commands.ts'
import { alreadyEnded, notOurs, whileUp } from '../command/keeper-answer.ts'
import { RefusedError } from '../core/errors.ts'
import type { Filter } from '../core/process/filter.ts'
import type { Pid } from '../core/process/pid.ts'
import { type Actor, hasEnded, type ProcessRecord } from '../core/process/record.ts'
import { otherRestart } from '../core/process/restart.ts'
import { restartRequest } from '../core/process/restart-request.ts'
import { refuseTracking } from '../core/process/tracked.ts'
import { isRefusal, type Refusal, refusal } from '../core/refusal.ts'
import { FORCE_AFTER_MS } from '../external/external-processes.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { Done } from '../kernel/perform.ts'
import { resolve } from '../kernel/resolve.ts'
import {
  failureOf,
  interruptScope,
  mostUrgentFirst,
  performInPages,
  type StopReport,
  visible,
} from '../kernel/stop-scope.ts'
import { type StopIntent, stopUnrecorded } from '../kernel/unrecorded-stop.ts'
import type { OutputOf, ParsedInputOf } from '../verbs/reeve.ts'
import type { CommandSpec } from '../verbs/shapes/command-spec.ts'
import type { Inherited } from '../verbs/shapes/inherited.ts'
import { type ActsFor, readerFor } from './action.ts'
import { commandIn } from './command-in.ts'
import { type ExternalStops, isTracked, notSignalled } from './external-stops.ts'
import { registerAll, spawnAnswer, whenBegun } from './spawn.ts'

/** What the keeper needs beyond the grace, to force and to look: ten seconds at most, and a moment to say so. */
const FORCE_MS = 12_000
/** How long a kill waits for what is never forced: a command without a grace, or an external process. */
const ASKED_MS = 2_000
/** A keeper that has ended a program answers within this, even if the time of the kill is over. */
const ANSWER_MS = 1_000
/** How many ends are waited for at once. */
const WAITS_AT_ONCE = 64
type Listed = Readonly<
  Record<OutputOf<'kill'>['answer'], 'signalled' | 'asked' | 'alreadyEnded' | 'unrecorded'>
>
const LISTED: Listed = {
  ended: 'signalled',
  asked: 'asked',
  already_ended: 'alreadyEnded',
  unrecorded: 'unrecorded',
}
/** Of a command that had ended: what it left running was signalled. */
const LISTED_LEFT: Listed = { ...LISTED, already_ended: 'signalled' }

/** A process that was asked to end. `by`: until when its end is waited for. */
interface KillAsked {
  readonly record: ProcessRecord
  /** `unrecorded`: the store could not take it, but the keeper was asked. */
  readonly how: Done['type'] | 'unrecorded'
  readonly graceMs: number
  readonly askedAt: number
  readonly by: number
}

export function stopActs(
  kernel: Kernel,
  actor: Actor,
  commands: Commands | undefined,
  externals: ExternalStops,
): ActsFor<'signal' | 'kill' | 'killAll' | 'interrupt' | 'restart'> {
  const { edges } = kernel
  const { clock } = edges
  const read = readerFor(kernel, actor)
  const asked = (pid: Pid) => ({ pid, actor, at: clock.now() }) as const

  /** The process that a restart with this key has registered. */
  const restartUnder = async (key: string): Promise<ProcessRecord | null> => {
    const pid = await edges.pidForKey(actor, key)
    return (await edges.store.ask({ ask: 'process', pid })) === null ? null : read(pid)
  }

  const killIntent = (pid: Pid, reason: string, graceMs: number | undefined): StopIntent => ({
    ...asked(pid),
    type: 'stop',
    how: 'kill',
    reason,
    cause: null,
    replayKey: `kill:${edges.newId()}`,
    ...(graceMs === undefined ? {} : { graceMs }),
  })

  const killAsked = (
    { how, record }: Pick<KillAsked, 'how' | 'record'>,
    given: number | undefined,
  ): KillAsked => {
    const graceMs = given ?? defaultGraceOf(record, commands)
    const askedAt = clock.now()
    return { how, record, graceMs, askedAt, by: askedAt + (graceMs === 0 ? ASKED_MS : graceMs + FORCE_MS) }
  }

  const killed = async (one: KillAsked): Promise<OutputOf<'kill'>> => {
    const { how, record, graceMs, askedAt } = one
    if (how === 'unrecorded') return killedUnrecorded(one)
    let { by } = one
    const isExternal = record.kind === 'external'
    if (isExternal && !hasEnded(record)) {
      const reached = await externals.reach(record)
      if (reached === 'forbidden') throw new RefusedError(notSignalled(record.pid))
      // Nothing forces what was not reached: its grace would be waited for in vain.
      if (reached !== 'delivered' && reached !== 'ended') by = Math.min(by, askedAt + ASKED_MS)
    }
    const leftMs = () => Math.max(0, by - clock.now())
    if (hasEnded(record) && how === 'kept') {
      const timeoutMs = graceMs === 0 ? ASKED_MS : graceMs + FORCE_MS
      const isOver = (await commands?.endLeftBehind(record, graceMs, timeoutMs)) ?? true
      return { answer: isOver ? 'already_ended' : 'asked', record }
    }
    const waited = await kernel.waitForEnd(record.pid, { timeoutMs: leftMs() })
    const isDone = waited.type === 'done'
    // Its program may have ended long before the last of what that started. Who is never forced may take its time.
    const isOver =
      !isExternal && (isDone || graceMs > 0)
        ? ((await commands?.isEndOver(record, isDone ? Math.max(leftMs(), ANSWER_MS) : 0)) ?? true)
        : isDone
    if (isDone && isOver) return { answer: 'ended', record: waited.value.record }
    return { answer: 'asked', record: await read(record.pid) }
  }

  /** Commands that have ended, fit the filter, and of which programs still run. */
  const leftBehind = async (
    filter: Filter,
    killedAlready: readonly ProcessRecord[],
  ): Promise<ProcessRecord[]> => {
    const known = new Set(killedAlready.map(({ pid }) => pid))
    const pids = (await commands?.leftovers()) ?? []
    const wanted = pids.filter((pid) => !known.has(pid) && (filter.pid?.includes(pid) ?? true))
    if (wanted.length === 0) return []
    const chosen = { ...filter, pid: wanted, status: filter.status ?? 'any' } as const
    return (await visible(edges, actor, chosen, Number.POSITIVE_INFINITY)).filter(hasEnded)
  }

  const killedUnrecorded = async ({ record, by }: KillAsked): Promise<OutputOf<'kill'>> => {
    const isOver = (await commands?.isEndOver(record, Math.max(0, by - clock.now()))) ?? true
    // The store may have come back meanwhile.
    const now = await read(record.pid)
    if (hasEnded(now)) return { answer: 'ended', record: now }
    return { answer: isOver ? 'unrecorded' : 'asked', record: now }
  }

  const performStop = async (intent: StopIntent): Promise<Pick<KillAsked, 'how' | 'record'>> => {
    try {
      const { type: how, row } = await kernel.perform(intent)
      return { how, record: row.record }
    } catch (error) {
      return { how: 'unrecorded', record: await stopUnrecorded(kernel, intent, error) }
    }
  }

  const kill = async (pid: Pid, reason: string, graceMs: number | undefined): Promise<OutputOf<'kill'>> =>
    killed(killAsked(await performStop(killIntent(pid, reason, graceMs)), graceMs))

  /** What a command with `inheritEnv` was started with, unless the caller gives something else. */
  const inheritedFor = async (old: ProcessRecord, given: Inherited | undefined) => {
    if (old.spec['inheritEnv'] === undefined) return {}
    const { keepEnv = [] } = old.spec as unknown as CommandSpec
    if (given !== undefined && keepEnv.length === 0) return { inherited: given }
    const isAllowed = edges.authorize(actor, 'execute', { type: 'process', record: old }) === undefined
    const inherited = (isAllowed ? await commands?.inherited.of(old) : null) ?? null
    const kept = keepEnv.map((name) => [name, inherited?.env[name]] as const)
    if (inherited === null || kept.some(([, value]) => value === undefined))
      throw new RefusedError(environmentGone(old))
    if (given === undefined) return { inherited }
    return { inherited: { ...given, env: { ...given.env, ...Object.fromEntries(kept) } } as Inherited }
  }

  return {
    async signal({ pid, signal, to, reason, replayKey }) {
      const found = await resolve(edges, actor, pid)
      if (signal === 'pause' || signal === 'resume') {
        const record = await read(found)
        if (isTracked(record)) return externals[signal](record, actor)
        const { type, row } = await kernel.perform({ ...asked(found), type: signal })
        return signalAnswer(type, row.record)
      }
      if (signal !== 'interrupt' && signal !== 'cancel' && signal !== 'kill') {
        const record = await read(found)
        const denied = edges.authorize(actor, 'signal', { type: 'process', record })
        if (denied !== undefined) throw new RefusedError(denied)
        return osSignal(commandIn(commands, record), record, signal, to)
      }
      const { how, record } = await performStop({
        ...asked(found),
        type: 'stop',
        how: signal,
        reason: reason ?? `${signal} by ${actor}`,
        cause: null,
        replayKey: replayKey ?? `${signal}:${edges.newId()}`,
      })
      if (!hasEnded(record) && record.kind === 'external' && how !== 'unrecorded')
        return externals.answer({ how, record }, signal)
      if (!hasEnded(record) || how !== 'kept') return signalAnswer(how, record)
      if (signal === 'interrupt') throw new RefusedError(alreadyEnded(record))
      return { answer: 'already_ended', record }
    },
    async kill({ pid, graceMs, reason }) {
      return kill(await resolve(edges, actor, pid), reason ?? `kill by ${actor}`, graceMs)
    },
    /** All are asked before any end is waited for: what never answers keeps no other from its stop. */
    async killAll({ filter, graceMs, reason = `kill of all by ${actor}` }) {
      const records = mostUrgentFirst(await visible(edges, actor, filter ?? {}, Number.POSITIVE_INFINITY))
      const report: Omit<StopReport, 'recorded'> & { readonly asked: Pid[] } = {
        matched: records.length,
        signalled: [],
        asked: [],
        alreadyEnded: [],
        stale: [],
        unrecorded: [],
        failed: [],
      }
      const all: KillAsked[] = []
      const stopped = performInPages(
        kernel,
        records.map(({ pid }) => killIntent(pid, reason, graceMs)),
      )
      for await (const { intent, performed } of stopped) {
        if (performed.type === 'refused')
          report.failed.push(failureOf(intent.pid, new RefusedError(performed.refusal)))
        else if (performed.type !== 'unwritten')
          all.push(killAsked({ how: performed.type, record: performed.row.record }, graceMs))
        else
          await stopUnrecorded(kernel, intent, performed.error).then(
            (record) => all.push(killAsked({ how: 'unrecorded', record }, graceMs)),
            (error: unknown) => report.failed.push(failureOf(intent.pid, error)),
          )
      }
      const reported = async (pid: Pid, ending: Promise<OutputOf<'kill'>>, listed: Listed) => {
        try {
          report[listed[(await ending).answer]].push(pid)
        } catch (error) {
          report.failed.push(failureOf(pid, error))
        }
      }
      await someAtOnce(all, (one) => reported(one.record.pid, killed(one), LISTED))
      const left = await leftBehind(filter ?? {}, records)
      report.matched += left.length
      await someAtOnce(left, ({ pid }) => reported(pid, kill(pid, reason, graceMs), LISTED_LEFT))
      return inOrderOf(report, [...records, ...left])
    },
    async interrupt({ scope, reason, tree }) {
      const report = await interruptScope(kernel, actor, scope, {
        reason: reason ?? `interrupt by ${actor}`,
        tree,
      })
      if (isRefusal(report)) throw new RefusedError(report)
      return externals.complete(report)
    },
    async restart({ pid, graceMs, idempotencyKey, inherited: given }) {
      const begun = idempotencyKey === undefined ? null : await restartUnder(idempotencyKey)
      if (begun !== null) {
        const other = otherRestart(begun, pid)
        if (other !== undefined) throw new RefusedError(other)
        return { record: begun }
      }
      const old = await read(pid)
      const untracked = refuseTracking(restartRequest(old, false), actor)
      if (untracked !== undefined) throw new RefusedError(untracked)
      // Before the old one is ended: it could not be started again otherwise.
      const inherited = await inheritedFor(old, given)
      if (!hasEnded(old)) {
        const { answer } = await kill(old.pid, `restart by ${actor}`, graceMs)
        if (answer === 'asked') throw new RefusedError(stillThere(old.pid))
      }
      const parent = old.parent === null ? null : await edges.store.ask({ ask: 'process', pid: old.parent })
      const hasParent = parent !== null && !hasEnded(parent.record) && parent.record.status !== 'stopping'
      const request = restartRequest(old, hasParent) as ParsedInputOf<'spawn'>
      const key = idempotencyKey === undefined ? {} : { idempotencyKey }
      const [registered] = await registerAll(kernel, commands, actor, [{ ...request, ...key, ...inherited }])
      const { record } = await whenBegun(kernel, commands, spawnAnswer(registered))
      return { record }
    },
  }
}

async function someAtOnce<Item>(items: readonly Item[], act: (item: Item) => Promise<void>): Promise<void> {
  const next = items.values()
  const actOnSome = async () => {
    for (const item of next) await act(item)
  }
  await Promise.all(Array.from({ length: WAITS_AT_ONCE }, actOnSome))
}

function environmentGone({ pid, spec }: ProcessRecord): Refusal {
  const { inheritEnv, keepEnv = [] } = spec as unknown as CommandSpec
  if (inheritEnv === 'part' || keepEnv.length > 0)
    return refusal(
      'environment_unknown',
      `${pid} was given variables of a file or a program, which are not kept, so it cannot be started again with them.`,
      'Start the command once more with reeve run --env-file <file>, or with spawn and inherited. With a name and --replace it takes the place of the old one.',
    )
  return refusal(
    'environment_unknown',
    `${pid} ran in the environment of the shell that started it, which is not kept.`,
    `Run reeve restart ${pid} in a shell: it then gets the environment of that shell.`,
  )
}

/** Of a plain external process 0: nothing here can force it, and a grace would be waited for in vain. */
function defaultGraceOf(record: ProcessRecord, commands: Commands | undefined): number {
  if (record.kind !== 'external') return commands?.graceOf(record) ?? 0
  return isTracked(record) ? FORCE_AFTER_MS : 0
}

/** Waits end in any order; a report names its processes in the order in which they were asked. */
function inOrderOf<Report extends Omit<StopReport, 'recorded'> & { readonly asked: Pid[] }>(
  report: Report,
  records: readonly ProcessRecord[],
): Report {
  const places = new Map(records.map(({ pid }, place) => [pid, place]))
  const byPlace = (a: Pid, b: Pid) => (places.get(a) ?? 0) - (places.get(b) ?? 0)
  for (const pids of [report.signalled, report.asked, report.alreadyEnded, report.unrecorded])
    pids.sort(byPlace)
  report.failed.sort((a, b) => byPlace(a.pid, b.pid))
  return report
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

function signalAnswer(how: KillAsked['how'], record: ProcessRecord): OutputOf<'signal'> {
  const answer = how === 'unrecorded' ? how : how === 'appended' ? 'signalled' : 'unchanged'
  return { answer, record }
}

export function stillThere(pid: Pid): Refusal {
  return refusal(
    'stopping',
    `${pid} was asked to end, and is not gone yet: no second one was started beside it.`,
    'Wait for its end and restart it then, or give a graceMs after which it is forced.',
  )
}
