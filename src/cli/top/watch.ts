import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../../base/error-text.ts'
import { positionOf } from '../../client/connect.ts'
import { ReeveError } from '../../core/errors.ts'
import type { OutputOf, ReeveVerbs } from '../../verbs/reeve.ts'
import { listProcesses, type ProcessFilter } from '../list-processes.ts'
import type { Look } from './figures.ts'
import {
  answeredBy,
  changed,
  kept,
  listening,
  loaded,
  looked,
  type Picture,
  type ProcessRecord,
} from './picture.ts'
import { rowsOf } from './rows.ts'

/** How often what is used is looked at. */
export const ROUND_MS = 1_000
/** Commands looked at in one round, those on the screen first; with more, they take turns. */
const MAX_LOOKS = 64
/** Questions under way at once: a daemon has others to answer, too. */
const AT_ONCE = 16
/** Ports seldom change. */
const PORT_ROUNDS = 3
/** Of one question for processes that have changed. */
const MAX_CHANGED = 100

type Change = (update: (picture: Picture) => Picture) => void

/** Learns what there is to show: the processes from the change feed, what they use by asking again and again. */
export class Watch {
  readonly #reeve: ReeveVerbs
  readonly #filter: ProcessFilter
  readonly #change: Change
  /** In the order of their turns. */
  #turns: string[] = []

  constructor(reeve: ReeveVerbs, filter: ProcessFilter, change: Change) {
    this.#reeve = reeve
    this.#filter = filter
    this.#change = change
  }

  /** Until it is called off. Whatever goes wrong is told in the picture, and tried again. */
  async run(picture: () => Picture, signal: AbortSignal): Promise<void> {
    await Promise.all([this.#follow(signal), this.#rounds(picture, signal)])
  }

  /** All processes that live, and those above them. Answers with the place in the feed from which nothing is missed. */
  async load(): Promise<number> {
    await this.#reeve.list({ limit: 1 })
    const position = positionOf(this.#reeve) ?? 0
    const live = (await listProcesses(this.#reeve, this.#filter)).map(({ record }) => record)
    const all = [...(await this.#above(live)), ...live]
    this.#change((picture) => loaded(picture, all, Date.now()))
    return position
  }

  /** Who listens where, of those that are seen: a look at all OS processes, and so not taken in each round. */
  async lookAtPorts(picture: Picture): Promise<void> {
    const pids = this.#seen(picture).slice(0, MAX_CHANGED)
    if (pids.length === 0) return
    const filter = { ...this.#filter, pid: pids }
    const { processes } = await this.#reeve.list({ filter, limit: MAX_CHANGED, ports: true })
    const found = processes.flatMap(({ record, ports = [] }) =>
      ports.length === 0 ? [] : [[record.pid, ports] as const],
    )
    this.#change((now) => listening(now, pids, new Map(found)))
  }

  /** One look at what commands use. */
  async look(picture: Picture): Promise<void> {
    const looks = new Map<string, Look>()
    const wanted = this.#nextTurns(picture)
    const work = async () => {
      for (let pid = wanted.pop(); pid !== undefined; pid = wanted.pop()) {
        const usage = await orNothing(this.#reeve.usage({ pid }))
        if (usage !== null) looks.set(pid, { at: Date.now(), usage })
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    this.#change((now) => looked(now, looks))
  }

  /** Which daemon answers, and what is wrong there. A caller that sees one session only may not ask. */
  async lookAtDaemon(): Promise<void> {
    const status = await orNothing(this.#reeve.status())
    this.#change((now) => answeredBy(now, status?.daemon ?? null, warningIn(status?.troubles)))
  }

  async #follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const after = await this.load()
        await this.#hear(after, signal)
      } catch (error) {
        if (signal.aborted) return
        this.#change((picture) => ({ ...picture, trouble: troubleText(error) }))
      }
      await pause(signal)
    }
  }

  /** Events say who has changed; what came of it is asked for, for all that have since the last answer. */
  async #hear(after: number, signal: AbortSignal): Promise<void> {
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
        await this.lookAtDaemon()
        await this.look(picture())
        if (round % PORT_ROUNDS === 0) await this.lookAtPorts(picture())
      } catch (error) {
        this.#change((now) => ({ ...now, askedAt: null, trouble: troubleText(error) }))
      }
      await pause(signal)
    }
  }

  /** Commands that run, from the first row that is shown on. */
  #seen(picture: Picture): string[] {
    const shown = rowsOf(picture).slice(picture.from)
    return shown.flatMap(({ record }) => (runs(record) ? [record.pid] : []))
  }

  #nextTurns(picture: Picture): string[] {
    const all = new Set([...picture.records.values()].filter(runs).map(({ pid }) => pid))
    const first = new Set(this.#seen(picture).slice(0, MAX_LOOKS / 2))
    // Half of the round is for what is seen, the rest for all others in turn: sorting needs to know of them.
    const inTurn = [...new Set([...this.#turns.filter((pid) => all.has(pid)), ...all])]
    const next = inTurn.filter((pid) => !first.has(pid)).slice(0, MAX_LOOKS - first.size)
    const chosen = new Set([...first, ...next])
    this.#turns = [...inTurn.filter((pid) => !chosen.has(pid)), ...chosen]
    return [...chosen].reverse()
  }

  /** Who has ended is still shown above what it started. */
  async #above(records: readonly ProcessRecord[]): Promise<ProcessRecord[]> {
    const known = new Set(records.map(({ pid }) => pid))
    const found: ProcessRecord[] = []
    let missing = parentsOf(records, known)
    while (missing.length > 0) {
      const some = await this.#recordsOf(missing.slice(0, MAX_CHANGED))
      for (const { pid } of some) known.add(pid)
      // Those that were asked for and are not there were pruned, or are not for our eyes.
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

/** What was refused is not known, and no reason to stop; what could not be asked is. */
async function orNothing<Answer>(asked: Promise<Answer>): Promise<Answer | null> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof ReeveError && !UNREACHABLE.has(error.code)) return null
    throw error
  }
}

const UNREACHABLE = new Set(['daemon_unreachable', 'closed', 'unauthorized'])

/** A daemon of an earlier version says nothing of it. */
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
