import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../../base/error-text.ts'
import { positionOf } from '../../client/connect.ts'
import { ReeveError } from '../../core/errors.ts'
import type { OutputOf, ReeveVerbs } from '../../verbs/reeve.ts'
import { listProcesses, type ProcessFilter } from '../list-processes.ts'
import { pendingApprovalsIfKnown, pendingText } from '../pending-approvals.ts'
import type { Sample } from './figures.ts'
import {
  answeredBy,
  changed,
  kept,
  loaded,
  type Picture,
  type ProcessRecord,
  withPorts,
  withSamples,
} from './picture.ts'
import { rowsOf } from './rows.ts'

/** How often resource use is sampled. */
export const ROUND_MS = 1_000
/** How many commands one round samples, those on the screen first; more of them take turns. */
const MAX_SAMPLES = 64
/** How many requests are under way at once: the daemon has other clients. */
const MAX_REQUESTS = 16
/** Ports are read every third round: they seldom change. */
const PORT_ROUNDS = 3
/** How many changed processes one request asks for. */
const MAX_CHANGED = 100

type Change = (update: (picture: Picture) => Picture) => void

/** Keeps the picture current: processes from the change feed, resource use by polling. */
export class Watch {
  readonly #reeve: ReeveVerbs
  readonly #filter: ProcessFilter
  readonly #change: Change
  /** The commands in the order in which they are sampled. */
  #turns: string[] = []

  constructor(reeve: ReeveVerbs, filter: ProcessFilter, change: Change) {
    this.#reeve = reeve
    this.#filter = filter
    this.#change = change
  }

  /** Runs until the signal aborts. A failure is shown in the picture, and tried again. */
  async run(picture: () => Picture, signal: AbortSignal): Promise<void> {
    await Promise.all([this.#follow(signal), this.#rounds(picture, signal)])
  }

  /** Reads all live processes and their ancestors. Resolves with the feed position from which no change is missed. */
  async load(): Promise<number> {
    await this.#reeve.list({ limit: 1 })
    const position = positionOf(this.#reeve) ?? 0
    const live = (await listProcesses(this.#reeve, this.#filter)).map(({ record }) => record)
    const all = [...(await this.#above(live)), ...live]
    this.#change((picture) => loaded(picture, all, Date.now()))
    return position
  }

  /** Reads the ports of the visible commands. The daemon scans all OS processes for that, so not every round does it. */
  async updatePorts(picture: Picture): Promise<void> {
    const pids = this.#visible(picture).slice(0, MAX_CHANGED)
    if (pids.length === 0) return
    const filter = { ...this.#filter, pid: pids }
    const { processes } = await this.#reeve.list({ filter, limit: MAX_CHANGED, ports: true })
    const found = processes.flatMap(({ record, ports = [] }) =>
      ports.length === 0 ? [] : [[record.pid, ports] as const],
    )
    this.#change((now) => withPorts(now, pids, new Map(found)))
  }

  /** Samples the resource use of commands. */
  async sample(picture: Picture): Promise<void> {
    const samples = new Map<string, Sample>()
    const wanted = this.#nextTurns(picture)
    const work = async () => {
      for (let pid = wanted.pop(); pid !== undefined; pid = wanted.pop()) {
        const usage = await orNull(this.#reeve.usage({ pid }))
        if (usage !== null) samples.set(pid, { at: Date.now(), usage })
      }
    }
    await Promise.all(Array.from({ length: MAX_REQUESTS }, work))
    this.#change((now) => withSamples(now, samples))
  }

  /** Reads which daemon answers, and its troubles. A caller that is bound to one session may not ask. */
  async updateDaemon(): Promise<void> {
    const status = await orNull(this.#reeve.status())
    this.#change((now) => answeredBy(now, status?.daemon ?? null, warningIn(status?.troubles)))
    const approvals = pendingText(await pendingApprovalsIfKnown(this.#reeve))
    this.#change((now) => ({ ...now, approvals }))
  }

  async #follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const after = await this.load()
        await this.#followChanges(after, signal)
      } catch (error) {
        if (signal.aborted) return
        this.#change((picture) => ({ ...picture, trouble: troubleText(error) }))
      }
      await pause(signal)
    }
  }

  /** Events name the processes that have changed. Their records are read in batches, one request at a time. */
  async #followChanges(after: number, signal: AbortSignal): Promise<void> {
    const pids = new Set<string>()
    const stop = new AbortController()
    let isAsking = false
    let failed: unknown
    const ask = async () => {
      isAsking = true
      try {
        while (pids.size > 0) {
          const some = [...pids].slice(0, MAX_CHANGED)
          for (const pid of some) pids.delete(pid)
          const records = await this.#recordsOf(some)
          this.#change((picture) => changed(picture, records, Date.now()))
        }
      } catch (error) {
        failed = error
        stop.abort()
      }
      isAsking = false
    }
    const filter = { ...this.#filter, status: 'any' as const }
    const either = AbortSignal.any([signal, stop.signal])
    for await (const { pid } of this.#reeve.follow({ after, filter }, { signal: either })) {
      pids.add(pid)
      if (!isAsking) void ask()
    }
    if (failed !== undefined) throw failed
  }

  async #rounds(picture: () => Picture, signal: AbortSignal): Promise<void> {
    for (let round = 0; !signal.aborted; round++) {
      this.#change((now) => ({ ...kept(now, Date.now()), askedAt: Date.now() }))
      try {
        await this.updateDaemon()
        await this.sample(picture())
        if (round % PORT_ROUNDS === 0) await this.updatePorts(picture())
      } catch (error) {
        this.#change((now) => ({ ...now, askedAt: null, trouble: troubleText(error) }))
      }
      await pause(signal)
    }
  }

  /** Running commands, from the first visible row on. */
  #visible(picture: Picture): string[] {
    const shown = rowsOf(picture).slice(picture.from)
    return shown.flatMap(({ record }) => (runs(record) ? [record.pid] : []))
  }

  #nextTurns(picture: Picture): string[] {
    const all = new Set([...picture.records.values()].filter(runs).map(({ pid }) => pid))
    const first = new Set(this.#visible(picture).slice(0, MAX_SAMPLES / 2))
    // Half of a round is for visible commands, the rest for all others in turn: sorting needs their figures, too.
    const inTurn = [...new Set([...this.#turns.filter((pid) => all.has(pid)), ...all])]
    const next = inTurn.filter((pid) => !first.has(pid)).slice(0, MAX_SAMPLES - first.size)
    const chosen = new Set([...first, ...next])
    this.#turns = [...inTurn.filter((pid) => !chosen.has(pid)), ...chosen]
    return [...chosen].reverse()
  }

  /** The ancestors of processes. An ended parent is shown above its live children. */
  async #above(records: readonly ProcessRecord[]): Promise<ProcessRecord[]> {
    const known = new Set(records.map(({ pid }) => pid))
    const found: ProcessRecord[] = []
    let missing = parentsOf(records, known)
    while (missing.length > 0) {
      const some = await this.#recordsOf(missing.slice(0, MAX_CHANGED))
      for (const { pid } of some) known.add(pid)
      // Processes that are not found were pruned, or are invisible to this caller.
      for (const pid of missing.slice(0, MAX_CHANGED)) known.add(pid)
      found.push(...some)
      missing = [...missing.slice(MAX_CHANGED), ...parentsOf(some, known)]
    }
    return found
  }

  async #recordsOf(pids: readonly string[]): Promise<ProcessRecord[]> {
    const { processes } = await this.#reeve.list({
      filter: { ...this.#filter, pid: [...pids], status: 'any' },
      limit: MAX_CHANGED,
    })
    return processes.map(({ record }) => record)
  }
}

function runs({ kind, outcome, firstStarted }: ProcessRecord): boolean {
  return kind === 'command' && outcome === null && firstStarted !== null
}

function parentsOf(records: readonly ProcessRecord[], known: ReadonlySet<string>): string[] {
  const parents = records.flatMap(({ parent }) => (parent === null || known.has(parent) ? [] : [parent]))
  return [...new Set(parents)]
}

/** Null for a refusal, which leaves a figure unknown. An unreachable daemon is an error. */
async function orNull<Answer>(asked: Promise<Answer>): Promise<Answer | null> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof ReeveError && !UNREACHABLE.has(error.code)) return null
    throw error
  }
}

const UNREACHABLE = new Set(['daemon_unreachable', 'closed', 'unauthorized'])

/** A daemon of an earlier version reports no troubles. */
function warningIn(troubles: OutputOf<'status'>['troubles'] = []): string | null {
  return troubles.length === 0 ? null : troubles.map(({ message }) => message).join(' ')
}

function troubleText(error: unknown): string {
  if (error instanceof ReeveError) return `${error.message} ${error.remedy}`
  return messageOf(error)
}

async function pause(signal: AbortSignal): Promise<void> {
  await sleep(ROUND_MS, undefined, { signal }).catch(() => undefined)
}
