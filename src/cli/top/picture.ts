import type { Listed } from '../list-processes.ts'
import { type Figures, figuresOf, type Look, UNKNOWN } from './figures.ts'

export type ProcessRecord = Listed['record']

export const SORTS = ['tree', 'cpu', 'memory', 'output', 'age', 'name'] as const
export type Sort = (typeof SORTS)[number]

/**
 * Who gets the keys.
 *
 * | mode   | a key                                      | leads to                        |
 * | list   | moves, or asks for something               | list; `/` filter, `k` kill, `l` logs, `?` help |
 * | filter | is a letter of the filter                  | list at Enter, and at Esc without a filter |
 * | kill   | `y` kills; any other is a no               | list                            |
 * | logs   | goes back                                  | list                            |
 * | help   | goes back                                  | list                            |
 */
type Mode =
  | { readonly in: 'list' | 'filter' | 'help' }
  /** The end of what it has printed; null until it has been read. */
  | { readonly in: 'logs'; readonly pid: string; readonly lines: readonly string[] | null }
  | { readonly in: 'kill'; readonly pid: string }

/** Everything that `reeve top` shows, as plain facts. */
export interface Picture {
  /** In the order in which they came to be. */
  readonly records: ReadonlyMap<string, ProcessRecord>
  readonly looks: ReadonlyMap<string, Look>
  readonly figures: ReadonlyMap<string, Figures>
  /** TCP ports that commands listen on; who listens on none is not in it. */
  readonly ports: ReadonlyMap<string, readonly number[]>
  readonly selected: string | null
  /** The row that it was last seen in: whoever has it when the process is gone is chosen instead. */
  readonly selectedAt: number
  /** The first row that is shown. */
  readonly from: number
  readonly filter: string
  readonly sort: Sort
  readonly mode: Mode
  /** What came of the last thing that was asked for. */
  readonly said: string | null
  /** Since when the daemon owes an answer; null while it owes none. */
  readonly askedAt: number | null
  /** Why nothing can be learnt just now. */
  readonly trouble: string | null
  /** What is wrong where the daemon runs, as it says itself. */
  readonly warning: string | null
  readonly daemon: { readonly id: string; readonly osPid: number } | null
  /** False until the processes have been read once. */
  readonly isLoaded: boolean
}

export const EMPTY: Picture = {
  records: new Map(),
  looks: new Map(),
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
  warning: null,
  daemon: null,
  isLoaded: false,
}

/** How long what has ended is still shown: long enough to see that it did, and how. */
const LINGER_MS = 10_000

/** All processes anew. Those that ended a moment ago are still shown if they were before. */
export function loaded(picture: Picture, records: readonly ProcessRecord[], now: number): Picture {
  const ended = [...picture.records.values()].filter((record) => lingers(record, now))
  const all = new Map([...ended, ...records].map((record) => [record.pid, record]))
  return kept({ ...picture, records: inOrder(all), isLoaded: true, trouble: null }, now)
}

/** Some processes as they are now. */
export function changed(picture: Picture, records: readonly ProcessRecord[], now: number): Picture {
  const all = new Map(picture.records)
  for (const record of records) {
    const known = all.get(record.pid)
    if (known === undefined || known.revision <= record.revision) all.set(record.pid, record)
  }
  return kept({ ...picture, records: inOrder(all) }, now)
}

/** Without what ended a while ago, unless something below it lives. */
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
    looks: only(picture.looks),
    figures: only(picture.figures),
    ports: only(picture.ports),
  }
}

export function looked(picture: Picture, looks: ReadonlyMap<string, Look>): Picture {
  const figures = new Map(picture.figures)
  for (const [pid, look] of looks) figures.set(pid, figuresOf(picture.looks.get(pid), look))
  return { ...picture, looks: new Map([...picture.looks, ...looks]), figures }
}

/** What was found of those who were asked about. */
export function listening(
  picture: Picture,
  asked: readonly string[],
  found: ReadonlyMap<string, readonly number[]>,
): Picture {
  const ports = new Map([...picture.ports].filter(([pid]) => !asked.includes(pid)))
  for (const [pid, some] of found) ports.set(pid, some)
  return { ...picture, ports }
}

/** Another daemon than before is worth a word: whoever looks may wonder what the pause was. */
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
