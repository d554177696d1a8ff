import type { Commands } from '../command/commands.ts'
import { RefusedError } from '../core/errors.ts'
import type { Reader } from '../core/inbox/readers.ts'
import type { StoredEvent } from '../core/process/event.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor, ProcessRecord } from '../core/process/record.ts'
import type { ProcessRow } from '../core/process/row.ts'
import { refusal } from '../core/refusal.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { Waited } from '../kernel/wait.ts'
import type { CallOptions, OutputOf } from '../verbs/reeve.ts'
import { type ActsFor, readerFor } from './action.ts'
import { commandIn } from './command-in.ts'
import type { ReadEffects } from './read-effects.ts'
import { whileReadable } from './while-readable.ts'

/** How long a `wait` lasts that does not say, and how long it may last at most. */
export interface WaitTimes {
  readonly defaultMs: number
  readonly mostMs: number
}

export function waitActs(
  kernel: Kernel,
  actor: Actor,
  commands: Commands | undefined,
  { defaultMs, mostMs }: WaitTimes,
  effects: ReadEffects,
): ActsFor<'wait' | 'waitAny' | 'waitAll' | 'waitFor'> {
  const read = readerFor(kernel, actor)
  const lasting = <Answer>(
    pids: readonly Pid[],
    options: CallOptions,
    act: (options: CallOptions) => Promise<Answer>,
  ) => whileReadable(kernel, actor, pids, options, act)
  /**
   * Whoever waited for the end, and is the one who would be told of it, need not be told; but whoever has called it off, or is
   * gone, does not hear this answer.
   */
  const ended = async (record: ProcessRecord, { signal }: CallOptions, reader?: Reader) => {
    if (signal?.aborted !== true) await effects.consume(record.pid, reader)
    return record
  }
  return {
    async wait({ pid, timeoutMs: asked = defaultMs, until, ready, reader }, options) {
      const found = await read(pid)
      const timeoutMs = Math.min(asked, mostMs)
      const clamped = asked > mostMs ? { clampedToMs: mostMs } : {}
      if (ready === true) {
        if (found.spec['ready'] === undefined) throw new RefusedError(noReadiness(found.pid))
        const isSettled = ({ type }: StoredEvent) => type === 'ready' || type === 'ready_timed_out'
        const waited = await lasting([found.pid], options, (lasts) =>
          kernel.waitForEvent(found.pid, 0, isSettled, waitOptions(timeoutMs, lasts)),
        )
        if (waited.type === 'interrupted') return waited
        const record = await read(found.pid)
        if (waited.type === 'timed_out') return { type: 'timed_out', record, ...clamped }
        if (waited.value !== null) return { type: record.readiness?.ready ? 'ready' : 'not_ready', record }
        return { type: 'ended', record: await ended(record, options, reader) }
      }
      if (until !== undefined) {
        const { output } = commandIn(commands, found)
        const { waited, truncated, scannedTo } = await lasting([found.pid], options, (lasts) =>
          output.followers.waitForLine(kernel, found, until, waitOptions(timeoutMs, lasts)),
        )
        if (waited.type === 'interrupted') return waited
        const record = await read(found.pid)
        if (waited.type === 'timed_out')
          return { type: 'timed_out', record, ...clamped, scannedTo, truncated }
        return waited.value === null
          ? { type: 'ended', record: await ended(record, options, reader), truncated }
          : { type: 'matched', record, line: waited.value, truncated }
      }
      const waited = await lasting([found.pid], options, (lasts) =>
        kernel.waitForEnd(found.pid, waitOptions(timeoutMs, lasts)),
      )
      if (waited.type === 'done')
        return { type: 'ended', record: await ended(waited.value.record, options, reader) }
      return waited.type === 'interrupted'
        ? waited
        : { type: 'timed_out', record: await read(found.pid), ...clamped }
    },
    async waitAny({ pids, timeoutMs }, options) {
      const found = (await Promise.all(pids.map(read))).map(({ pid }) => pid)
      const first = await lasting(found, options, async (lasts) => {
        const enough = new AbortController()
        const signal =
          lasts.signal === undefined ? enough.signal : AbortSignal.any([lasts.signal, enough.signal])
        try {
          return await Promise.race(
            found.map((pid) => kernel.waitForEnd(pid, waitOptions(timeoutMs, { signal }))),
          )
        } finally {
          // The waits that lost the race have nobody to tell.
          enough.abort()
        }
      })
      return first.type === 'done'
        ? { type: 'ended', record: await ended(first.value.record, options) }
        : first
    },
    async waitAll({ pids, timeoutMs }, options) {
      const found = (await Promise.all(pids.map(read))).map(({ pid }) => pid)
      const all = await lasting(found, options, (lasts) =>
        Promise.all(found.map((pid) => kernel.waitForEnd(pid, waitOptions(timeoutMs, lasts)))),
      )
      const done = all.filter(
        (one): one is Extract<Waited<ProcessRow>, { type: 'done' }> => one.type === 'done',
      )
      for (const { value } of done) await ended(value.record, options)
      const missing = all.find((one) => one.type !== 'done')
      return {
        type: missing === undefined ? 'ended' : missing.type,
        records: done.map(({ value }) => value.record),
      } as OutputOf<'waitAll'>
    },
    async waitFor({ pid, types, after, timeoutMs }, options) {
      const { pid: found } = await read(pid)
      const isWanted = ({ type }: StoredEvent) => types.includes(type)
      const waited = await lasting([found], options, (lasts) =>
        kernel.waitForEvent(found, after, isWanted, waitOptions(timeoutMs, lasts)),
      )
      return waited.type === 'done' ? { type: 'heard', event: waited.value } : waited
    },
  }
}

function noReadiness(pid: string) {
  return refusal(
    'no_readiness',
    `Nothing says when ${pid} is ready.`,
    'Start it with ready: a log pattern, a port, a URL or a command; or wait for a line with until.',
  )
}

function waitOptions(timeoutMs: number | undefined, { signal }: CallOptions) {
  return { ...(timeoutMs === undefined ? {} : { timeoutMs }), ...(signal === undefined ? {} : { signal }) }
}
