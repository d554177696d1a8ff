import { RefusedError } from '../core/errors.ts'
import type { Reader } from '../core/inbox/readers.ts'
import { type StoredEvent, typedEvent } from '../core/process/event.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import { refusal } from '../core/refusal.ts'
import type { CallOptions, OutputOf, ParsedInputOf } from '../verbs/reeve.ts'
import { type ActionParts, type ActionsFor, readerFor } from './action.ts'
import { commandIn } from './command-in.ts'
import type { ReadEffects } from './read-effects.ts'
import { whileReadable } from './while-readable.ts'

/** Waits for one process: for its end, its readiness, a line of its output, or an event. */
export function waitActions(parts: ActionParts): ActionsFor<'wait' | 'waitFor'> {
  const { kernel, actor, waits } = parts
  const read = readerFor(parts)
  return {
    async wait({ pid, timeoutMs = waits.defaultMs, until, ready, reader }, options) {
      const clamped = timeoutMs > waits.mostMs ? { clampedToMs: waits.mostMs } : {}
      const wait: Wait = {
        parts,
        record: await read(pid),
        timeoutMs: Math.min(timeoutMs, waits.mostMs),
        clamped,
        reader,
        options,
      }
      if (ready === true) return waitUntilReady(wait)
      return until === undefined ? waitUntilEnded(wait) : waitUntilLine(wait, until)
    },
    async waitFor({ pid, types, after, timeoutMs }, options) {
      const { pid: found } = await read(pid)
      const isWanted = ({ type }: StoredEvent) => types.includes(type)
      const waited = await whileReadable(kernel, actor, [found], options, (lasts) =>
        kernel.waits.forEvent(found, after, isWanted, waitOptions(timeoutMs, lasts)),
      )
      if (waited.type !== 'done') return waited
      return { type: 'heard', event: waited.value === null ? null : typedEvent(waited.value) }
    },
  }
}

interface Wait {
  readonly parts: ActionParts
  readonly record: ProcessRecord
  readonly timeoutMs: number
  /** For the answer, where the caller asked for more time than a wait may take. */
  readonly clamped: { readonly clampedToMs?: number }
  readonly reader: Reader | undefined
  readonly options: CallOptions
}

async function waitUntilReady(wait: Wait): Promise<OutputOf<'wait'>> {
  const { parts, record: before, clamped } = wait
  if (before.spec['ready'] === undefined) throw new RefusedError(noReadiness(before.pid))
  const isSettled = ({ type }: StoredEvent) => type === 'ready' || type === 'ready_timed_out'
  const waited = await lasting(wait, (options) =>
    parts.kernel.waits.forEvent(before.pid, 0, isSettled, options),
  )
  if (waited.type === 'interrupted') return waited
  const record = await readerFor(parts)(before.pid)
  if (waited.type === 'timed_out') return { type: 'timed_out', record, ...clamped }
  if (waited.value !== null) return { type: record.readiness?.ready ? 'ready' : 'not_ready', record }
  await consumeEnd(parts.effects, record.pid, wait.options, wait.reader)
  return { type: 'ended', record }
}

async function waitUntilLine(
  wait: Wait,
  until: NonNullable<ParsedInputOf<'wait'>['until']>,
): Promise<OutputOf<'wait'>> {
  const { parts, record: before, clamped } = wait
  const { output } = commandIn(parts.commands, before)
  const { waited, truncated, scannedTo } = await lasting(wait, (options) =>
    output.followers.waitForLine(parts.kernel, before, until, options),
  )
  if (waited.type === 'interrupted') return waited
  const record = await readerFor(parts)(before.pid)
  if (waited.type === 'timed_out') return { type: 'timed_out', record, ...clamped, scannedTo, truncated }
  if (waited.value !== null) return { type: 'matched', record, line: waited.value, truncated }
  await consumeEnd(parts.effects, record.pid, wait.options, wait.reader)
  return { type: 'ended', record, truncated }
}

async function waitUntilEnded(wait: Wait): Promise<OutputOf<'wait'>> {
  const { parts, record, clamped } = wait
  const waited = await lasting(wait, (options) => parts.kernel.waits.forEnd(record.pid, options))
  if (waited.type === 'interrupted') return waited
  if (waited.type === 'timed_out')
    return { type: 'timed_out', record: await readerFor(parts)(record.pid), ...clamped }
  await consumeEnd(parts.effects, record.pid, wait.options, wait.reader)
  return { type: 'ended', record: waited.value.record }
}

function lasting<Answer>(
  { parts, record, timeoutMs, options }: Wait,
  act: (options: ReturnType<typeof waitOptions>) => Promise<Answer>,
): Promise<Answer> {
  return whileReadable(parts.kernel, parts.actor, [record.pid], options, (lasts) =>
    act(waitOptions(timeoutMs, lasts)),
  )
}

/**
 * An actor that waited for an end and would get a notice of it needs no notice. A caller that has aborted does not get
 * this answer, so its notice stays.
 */
export async function consumeEnd(
  effects: ReadEffects,
  pid: Pid,
  { signal }: CallOptions,
  reader?: Reader,
): Promise<void> {
  if (signal?.aborted !== true) await effects.consume(pid, reader)
}

export function waitOptions(timeoutMs: number | undefined, { signal }: CallOptions) {
  return { ...(timeoutMs === undefined ? {} : { timeoutMs }), ...(signal === undefined ? {} : { signal }) }
}

function noReadiness(pid: string) {
  return refusal(
    'no_readiness',
    `Nothing says when ${pid} is ready.`,
    'Start it with ready: a log pattern, a port, a URL or a command; or wait for a line with until.',
  )
}
