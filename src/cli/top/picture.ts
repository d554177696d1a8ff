import type { Listed } from '../list-processes.ts'
import { type Figures, figuresOf, type Sample, UNKNOWN } from './figures.ts'

export type ProcessRecord = Listed['record']

export const SORTS = ['tree', 'cpu', 'memory', 'output', 'age', 'name'] as const
export type Sort = (typeof SORTS)[number]

/**
 * The effect of each key.
 *
 * | mode   | a key                                      | leads to                        |
 * | list   | moves, or starts an action                 | list; `/` filter, `k` kill, `l` logs, `?` help |
 * | filter | is a letter of the filter                  | list at Enter, and at Esc without a filter |
 * | kill   | `y` kills; any other key does not          | list                            |
 * | logs   | goes back                                  | list                            |
 * | help   | goes back                                  | list                            |
 */
type Mode =
  | { readonly in: 'list' | 'filter' | 'help' }
  /** The last lines of its output; null until they are read. */
  | { readonly in: 'logs'; readonly pid: string; readonly lines: readonly string[] | null }
  | { readonly in: 'kill'; readonly pid: string }

/** The whole state of `reeve top`. */
export interface Picture {
  /** In the order of their creation. */
  readonly records: ReadonlyMap<string, ProcessRecord>
  readonly samples: ReadonlyMap<string, Sample>
  readonly figures: ReadonlyMap<string, Figures>
  /** The TCP ports that commands listen on, by pid. */
  readonly ports: ReadonlyMap<string, readonly number[]>
  readonly selected: string | null
  /** The last row of the selected process: when the process is gone, the process in that row is selected. */
  readonly selectedAt: number
  /** The first visible row. */
  readonly from: number
  readonly filter: string
  readonly sort: Sort
  readonly mode: Mode
  /** The outcome of the last action. */
  readonly said: string | null
  /** When the oldest unanswered request was sent; null if there is none. */
  readonly askedAt: number | null
  /** Why the processes cannot be read now. */
  readonly trouble: string | null
  /** How many approvals wait for the user, and how to answer. */
  readonly approvals: string | null
  /** The troubles that the daemon reports. */
  readonly warning: string | null
  readonly daemon: { readonly id: string; readonly osPid: number } | null
  /** False until the processes are read for the first time. */
  readonly isLoaded: boolean
}

export const EMPTY: Picture = {
  records: new Map(),
  samples: new Map(),
  figures: new Map(),
  ports: new Map(),
  selected: null,
  selectedAt: 0,
  from: 0,
  filter: '',
  sort: 'tree',
  mode: { in: 'list' },
  said: null,
  askedAt: null,
  trouble: null,
  approvals: null,
  warning: null,
  daemon: null,
  isLoaded: false,
}

/** How long an ended process stays visible: long enough to see how it ended. */
const LINGER_MS = 10_000

/** Replaces all processes. Those that ended a moment ago stay visible if they were before. */
export function loaded(picture: Picture, records: readonly ProcessRecord[], now: number): Picture {
  const ended = [...picture.records.values()].filter((record) => lingers(record, now))
  const all = new Map([...ended, ...records].map((record) => [record.pid, record]))
  return kept({ ...picture, records: inOrder(all), isLoaded: true, trouble: null }, now)
}

/** Updates some processes. */
export function changed(picture: Picture, records: readonly ProcessRecord[], now: number): Picture {
  const all = new Map(picture.records)
  for (const record of records) {
    const known = all.get(record.pid)
    if (known === undefined || known.revision <= record.revision) all.set(record.pid, record)
  }
  return kept({ ...picture, records: inOrder(all) }, now)
}

/** Removes processes that ended a while ago, unless a descendant is live. */
export function kept(picture: Picture, now: number): Picture {
  const stays = new Set<string>()
  for (const record of picture.records.values()) {
    if (record.outcome !== null && !lingers(record, now)) continue
    let above: ProcessRecord | undefined = record
    while (above !== undefined && !stays.has(above.pid)) {
      stays.add(above.pid)
      above = above.parent === null ? undefined : picture.records.get(above.parent)
    }
  }
  if (stays.size === picture.records.size) return picture
  const only = <Value>(all: ReadonlyMap<string, Value>) => new Map([...all].filter(([pid]) => stays.has(pid)))
  return {
    ...picture,
    records: only(picture.records),
    samples: only(picture.samples),
    figures: only(picture.figures),
    ports: only(picture.ports),
  }
}

export function withSamples(picture: Picture, samples: ReadonlyMap<string, Sample>): Picture {
  const figures = new Map(picture.figures)
  for (const [pid, sample] of samples) figures.set(pid, figuresOf(picture.samples.get(pid), sample))
  return { ...picture, samples: new Map([...picture.samples, ...samples]), figures }
}

/** Updates the ports of the processes that were asked about. */
export function withPorts(
  picture: Picture,
  asked: readonly string[],
  found: ReadonlyMap<string, readonly number[]>,
): Picture {
  const ports = new Map([...picture.ports].filter(([pid]) => !asked.includes(pid)))
  for (const [pid, some] of found) ports.set(pid, some)
  return { ...picture, ports }
}

/** Notes which daemon answered. A replaced daemon is reported, because it explains a pause. */
export function answeredBy(
  picture: Picture,
  daemon: Picture['daemon'],
  warning: string | null = null,
): Picture {
  const isNew = picture.daemon !== null && daemon !== null && picture.daemon.id !== daemon.id
  const said = isNew ? `The daemon was replaced; the new one has the PID ${daemon.osPid}.` : picture.said
  return { ...picture, daemon: daemon ?? picture.daemon, said, askedAt: null, trouble: null, warning }
}

export function figuresFor({ figures, records }: Picture, pid: string): Figures {
  return records.get(pid)?.outcome === null ? (figures.get(pid) ?? UNKNOWN) : UNKNOWN
}

function lingers({ outcome }: ProcessRecord, now: number): boolean {
  return outcome !== null && now - outcome.endedAt < LINGER_MS
}

function inOrder(records: ReadonlyMap<string, ProcessRecord>): ReadonlyMap<string, ProcessRecord> {
  const sorted = [...records.values()].sort(
    (a, b) => a.createdAt - b.createdAt || (a.pid < b.pid ? -1 : Number(a.pid > b.pid)),
  )
  return new Map(sorted.map((record) => [record.pid, record]))
}
