import { isDeepStrictEqual } from 'node:util'
import { type TypedEvent, untypedEvent } from '../core/process/event.ts'
import { refold } from '../core/process/fold.ts'
import type { ProcessRecord, SignalQueue } from '../core/process/record.ts'
import type { Entry } from './ledger.ts'

export interface Proof {
  readonly holds: boolean
  readonly text: string
  /** The evidence against it. */
  readonly missing: readonly string[]
}

export interface Evidence {
  /** The effects, recorded outside of the store. */
  readonly ledger: readonly Entry[]
  /** The whole event log, as it is stored. */
  readonly log: readonly TypedEvent[]
  /** The events that a follower got meanwhile. */
  readonly heard: readonly TypedEvent[]
  readonly records: readonly ProcessRecord[]
}

/** Compares the store with the ledger. Each proof counts entries; none asks the kernel. */
export function prove({ ledger, log, heard, records }: Evidence): Proof[] {
  const pids = (what: Entry['what']) => ledger.filter((entry) => entry.what === what).map(({ pid }) => pid)
  const begun = countsOf(pids('begun'))
  const started = countsOf(log.filter(({ type }) => type === 'started').map(({ pid }) => pid))
  const ended = countsOf(log.filter(({ type }) => type === 'ended').map(({ pid }) => pid))
  const acknowledged = new Set(pids('acknowledged'))
  const known = new Map(records.map((record) => [record.pid, record]))
  const done = countsOf(pids('done'))
  const completed = records.filter(({ status }) => status === 'completed')
  const signals = records.flatMap(({ signals }) => Object.values(signals))
  const bound = records.filter(({ recovery }) => recovery === 'bound')
  const rerunnable = records.filter(({ recovery }) => recovery === 'rerunnable')
  const twice = rerunnable.filter(({ pid }) => countOf(begun, pid) > 1)
  const all = [...known.keys()]

  return [
    proof(
      `Nothing was lost: ${acknowledged.size} processes were acknowledged, ${known.size} are there.`,
      [...acknowledged].filter((pid) => !known.has(pid)).map((pid) => `${pid} is missing`),
    ),
    proof(
      'Each of them has exactly one outcome.',
      all
        .filter((pid) => countOf(ended, pid) !== 1 || known.get(pid)?.outcome === null)
        .map((pid) => `${pid} ended ${countOf(ended, pid)} times`),
    ),
    proof(
      `Every outcome is true: ${completed.length} say completed, and those did finish.`,
      completed.filter(({ pid }) => countOf(done, pid) === 0).map(({ pid }) => `${pid} never finished`),
    ),
    proof(
      `No bound process ran twice: ${bound.length} of them, ${sum(begun, bound)} executions.`,
      bound
        .filter(({ pid }) => countOf(begun, pid) > 1)
        .map(({ pid }) => `${pid} began ${countOf(begun, pid)} times`),
    ),
    proof(
      `Of ${rerunnable.length} rerunnable ones ${twice.length} began twice, and the log says so.`,
      rerunnable
        .filter(({ pid, attempts }) => countOf(begun, pid) !== attempts)
        .map(({ pid, attempts }) => `${pid} began ${countOf(begun, pid)} times; its record says ${attempts}`),
    ),
    proof(
      `Every signal was taken once: ${total(signals, 'received')} sent, ${total(signals, 'taken')} taken.`,
      signals
        .filter(({ received, taken }) => received !== 1 || taken !== 1)
        .map(({ received, taken }) => `${received} received, ${taken} taken`),
    ),
    proof(
      `Every execution is on record: ${sum(begun, records)} in the ledger, ${sum(started, records)} in the log.`,
      all
        .filter((pid) => countOf(begun, pid) !== countOf(started, pid))
        .map((pid) => `${pid} began ${countOf(begun, pid)} times; the log says ${countOf(started, pid)}`),
    ),
    proof(
      `Every record is the fold of its events: ${records.length} folded again, field for field.`,
      records
        .filter(
          (record) =>
            !isDeepStrictEqual(refold(log.filter(({ pid }) => pid === record.pid).map(untypedEvent)), record),
        )
        .map(({ pid }) => `${pid} differs from the fold of its events`),
    ),
    proof(
      `A follower heard all ${log.length} events, each once and in order.`,
      isDeepStrictEqual(heard, log) ? [] : [`it heard ${heard.length}`],
    ),
  ]
}

function total(signals: readonly SignalQueue[], which: 'received' | 'taken'): number {
  return signals.reduce((count, queue) => count + queue[which], 0)
}

export function proof(text: string, missing: readonly string[]): Proof {
  return { holds: missing.length === 0, text, missing }
}

function countsOf(pids: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const pid of pids) counts.set(pid, countOf(counts, pid) + 1)
  return counts
}

function countOf(counts: ReadonlyMap<string, number>, pid: string): number {
  return counts.get(pid) ?? 0
}

function sum(counts: ReadonlyMap<string, number>, records: readonly ProcessRecord[]): number {
  return records.reduce((total, { pid }) => total + countOf(counts, pid), 0)
}
