import { hash } from 'node:crypto'
import { knownEvent } from '../../core/process/event.ts'
import type { WaitRef } from '../../core/process/intent.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { ProcessRecord } from '../../core/process/record.ts'
import type { ProcessRow } from '../../core/process/row.ts'
import { waitsOf } from '../../core/process/wait.ts'
import { humanMs } from '../../core/script/human-time.ts'
import type { ScriptLimits } from '../../core/script/limits.ts'
import { DEADLINE, refusalIn, scriptCallKey, waitForCall } from '../../core/script/script.ts'
import type { ScriptSnapshot } from '../../core/script/snapshot.ts'
import { writeWithBlobs } from '../../kernel/blobs.ts'
import type { Work } from '../../kernel/executor.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import { PAGE_BYTES } from '../../kernel/page.ts'
import { park } from '../../kernel/park.ts'
import type { CallAnswer, ScriptCall, Stretch } from '../../script/messages.ts'
import { type Engine, ScriptVm } from '../../script/script-vm.ts'
import type { Page } from '../../store/contract.ts'
import { type ScriptToRun, ToolError } from '../tools/agent-tool.ts'
import type { ScriptCalls } from './script-calls.ts'

export interface ScriptRunParts {
  readonly kernel: Kernel
  readonly work: Work
  readonly calls: ScriptCalls
  readonly engine: Engine
  readonly limits: ScriptLimits
}

type Ended = Exclude<Stretch, { type: 'waiting' }>

/** The end of a call, as the log of the script has it. */
interface CallEnd {
  readonly seq: number
  readonly at: number
  /** Why there is no process; null if there is one. */
  readonly refused: string | null
}

/** The least time between two looks at a deadline that a person holds up. */
const LOOK_MS = 30_000

const PAGE_EVENTS = 1_000
const PAGE_PROCESSES = 300

/**
 * One attempt at a script. Its log has the ends of its calls (`wait_left`), and it gets them in the order of the log: so an attempt that
 * runs from the first line, or from a stored state, makes the same calls again and finds their results.
 *
 * | the script  | then                                                                                     |
 * | has ended   | the attempt ends                                                                         |
 * | makes calls | each is registered as a child, or found, and waited for                                  |
 * | waits       | it gets the next result; after `idleMs` without one its state is stored, and it is parked |
 */
export class ScriptRun {
  readonly #parts: ScriptRunParts
  readonly #pid: Pid
  readonly #over = new AbortController()
  /** The calls that it waits for, by number. */
  readonly #pending = new Map<number, Pid>()
  readonly #ends = new Map<Pid, CallEnd>()
  /** The `seq` up to which the log was read. */
  #cursor = 0
  #through = 0
  #calls = 0
  #time: number
  #isStored = false
  /** The ends of calls are written one after the other. */
  #writing: Promise<unknown> = Promise.resolve()
  #news = Promise.withResolvers<void>()
  /** Why the end of a call cannot be written. */
  #trouble: unknown
  #deadline: (WaitRef & { readonly until: number }) | null = null

  constructor(parts: ScriptRunParts) {
    this.#parts = parts
    this.#pid = parts.work.record.pid
    this.#time = parts.work.record.createdAt
  }

  async run(script: ScriptToRun): Promise<Ended | 'parked'> {
    const { engine, limits, work } = this.#parts
    const vms: ScriptVm[] = []
    const open = () => {
      const vm = new ScriptVm(engine, limits)
      vms.push(vm)
      return vm
    }
    const onStop = () => void Promise.all(vms.map((vm) => vm.close()))
    work.signal.addEventListener('abort', onStop, { once: true })
    try {
      work.signal.throwIfAborted()
      await this.#readLog()
      if (await this.#parkAgain()) return 'parked'
      return await this.#drive(open, script)
    } finally {
      work.signal.removeEventListener('abort', onStop)
      this.#over.abort(new Error('The attempt is over.'))
      await Promise.all(vms.map((vm) => vm.close()))
    }
  }

  async #drive(open: () => ScriptVm, script: ScriptToRun): Promise<Ended | 'parked'> {
    let vm = await this.#restored(open)
    let stretch: Stretch = { type: 'waiting', calls: [] }
    if (vm === undefined) {
      vm = open()
      stretch = await computed(vm.begin(script.source, JSON.stringify(script.args), this.#time))
    }
    for (;;) {
      this.#parts.work.signal.throwIfAborted()
      if (stretch.type !== 'waiting') return stretch
      for (const call of stretch.calls) await this.#begin(call)
      const next = await this.#next(vm)
      if (next === 'parked') return next
      stretch = await computed(vm.answer(next, this.#time))
    }
  }

  /** The stored state, if this program can continue it. Otherwise it runs again from its first line, and finds the results of its calls. */
  async #restored(open: () => ScriptVm): Promise<ScriptVm | undefined> {
    const { kernel, work, engine } = this.#parts
    const { snapshot } = work.record
    if (snapshot === undefined || snapshot.engine !== engine.hash) return undefined
    const state = await kernel.edges.store.blobs.get(snapshot.hash)
    if (state === null) return undefined
    const vm = open()
    try {
      await vm.restore(state, snapshot.time)
    } catch {
      work.signal.throwIfAborted()
      return undefined
    }
    this.#time = snapshot.time
    this.#calls = snapshot.calls
    this.#through = snapshot.through
    this.#isStored = true
    for (const n of snapshot.pending) {
      const pid = await this.#pidOf(n)
      this.#pending.set(n, pid)
      if (!this.#ends.has(pid)) await this.#waitFor(pid)
    }
    return vm
  }

  async #begin(call: ScriptCall): Promise<void> {
    const { calls, work } = this.#parts
    const pid = await this.#pidOf(call.n)
    this.#calls = call.n
    this.#isStored = false
    this.#pending.set(call.n, pid)
    if (this.#ends.get(pid)?.refused != null) return
    const refused = await calls.begin(pid, call, work.signal)
    if (this.#ends.has(pid)) return
    if (refused === null) return this.#waitFor(pid)
    await this.#performAs({ type: 'enter_wait', wait: waitForCall(pid), until: null })
    await this.#leave(pid, refused)
  }

  /** The call ends in the log once its process has ended. */
  async #waitFor(pid: Pid): Promise<void> {
    const { kernel } = this.#parts
    await this.#performAs({ type: 'enter_wait', wait: waitForCall(pid), until: null })
    const ended = kernel.waits.forEnd(pid, { signal: this.#over.signal })
    ended
      .then(({ type }) => (type === 'done' ? this.#leave(pid, null) : undefined))
      .catch((error: unknown) => {
        this.#trouble ??= error
        this.#news.resolve()
      })
  }

  #leave(pid: Pid, value: { readonly refused: string } | null): Promise<void> {
    const wait = waitForCall(pid)
    const written = this.#writing.then(async () => {
      if (this.#over.signal.aborted) return
      await this.#performAs({ type: 'leave_wait', wait, how: 'ended', value })
      this.#news.resolve()
    })
    this.#writing = written.catch(() => {})
    return written
  }

  async #performAs(intent: Parameters<Kernel['performAs']>[1]): Promise<void> {
    await this.#parts.kernel.performAs(this.#parts.work, intent)
  }

  /** The next result for the script. Without one for a while, the script leaves memory. */
  async #next(vm: ScriptVm): Promise<CallAnswer | 'parked'> {
    const { kernel, work, limits } = this.#parts
    const { clock } = kernel.edges
    for (;;) {
      await this.#refuseLate()
      this.#news = Promise.withResolvers()
      await this.#readLog()
      if (this.#trouble !== undefined) throw this.#trouble
      const next = this.#nextEnd()
      if (next !== undefined) return this.#answer(next, work.signal)
      const takeSlotBack = work.lendSlot()
      let isIdle = false
      const idle = clock.after(limits.idleMs, () => {
        isIdle = true
        this.#news.resolve()
      })
      const onStop = () => this.#news.resolve()
      work.signal.addEventListener('abort', onStop, { once: true })
      if (!work.signal.aborted) await this.#news.promise
      idle()
      work.signal.removeEventListener('abort', onStop)
      takeSlotBack()
      work.signal.throwIfAborted()
      if (isIdle && (await this.#park(vm))) return 'parked'
    }
  }

  #nextEnd(): { readonly n: number; readonly pid: Pid; readonly end: CallEnd } | undefined {
    const ended = [...this.#pending].flatMap(([n, pid]) => {
      const end = this.#ends.get(pid)
      return end === undefined ? [] : [{ n, pid, end }]
    })
    return ended.sort((a, b) => a.end.seq - b.end.seq)[0]
  }

  async #answer(
    { n, pid, end }: { readonly n: number; readonly pid: Pid; readonly end: CallEnd },
    signal: AbortSignal,
  ): Promise<CallAnswer> {
    const { refused } = end
    const answer =
      refused === null
        ? await this.#parts.calls.answerOf(n, pid, signal)
        : { n, isError: true, json: JSON.stringify(refused) }
    this.#pending.delete(n)
    this.#through = end.seq
    this.#time = Math.max(this.#time, end.at)
    this.#isStored = false
    return answer
  }

  /** Stores the state and gives the lease back. False if a call has ended meanwhile. */
  async #park(vm: ScriptVm): Promise<boolean> {
    const { kernel, work } = this.#parts
    const stored = this.#isStored ? undefined : await this.#snapshot(vm)
    await this.#writing
    await this.#readLog()
    if (this.#nextEnd() !== undefined) return false
    const deadline = await this.#enterDeadline()
    const waits = [...[...this.#pending.values()].map(waitForCall), deadline]
    const blobs = stored === undefined ? [] : [stored.blob]
    return writeWithBlobs(kernel.edges, blobs, () => park(kernel.edges, work, waits, stored?.snapshot))
  }

  async #snapshot(vm: ScriptVm) {
    const state = await vm.snapshot()
    // It runs again from its first line, or from an earlier state.
    if (state === null) return undefined
    const digest = hash('sha256', state, 'hex')
    const snapshot: ScriptSnapshot = {
      hash: digest,
      bytes: state.length,
      engine: this.#parts.engine.hash,
      through: this.#through,
      calls: this.#calls,
      time: this.#time,
      pending: [...this.#pending.keys()],
    }
    return { snapshot, blob: { hash: digest, bytes: state } }
  }

  /**
   * The wait of an earlier attempt for the end of the script's time. If that one is due while a person is waited for, there is a later
   * one, and the script stays out of memory.
   */
  async #parkAgain(): Promise<boolean> {
    const { work, kernel } = this.#parts
    const waits = waitsOf(work.record)
    const open = waits.find(({ on, name }) => on === 'timer' && name === DEADLINE)
    if (open === undefined) return false
    const { ordinal, until } = open
    const wait = { on: 'timer', name: DEADLINE, ordinal } as const
    if (until !== null && until > kernel.edges.clock.now()) {
      this.#deadline = { ...wait, until }
      return false
    }
    await this.#performAs({ type: 'leave_wait', wait, how: 'due', value: null })
    await this.#refuseLate()
    const deadline = await this.#enterDeadline(ordinal + 1)
    const calls = waits.filter(({ on }) => on === 'child').map(({ name }) => waitForCall(name))
    return calls.length > 0 && park(kernel.edges, work, [...calls, deadline])
  }

  async #enterDeadline(ordinal = 1): Promise<WaitRef> {
    if (this.#deadline === null) {
      const { clock } = this.#parts.kernel.edges
      const endsAt = await this.#endsAt()
      const until = ordinal === 1 ? endsAt : Math.max(endsAt, clock.now() + LOOK_MS)
      this.#deadline = { on: 'timer', name: DEADLINE, ordinal, until }
      const { on, name } = this.#deadline
      await this.#performAs({ type: 'enter_wait', wait: { on, name, ordinal }, until })
    }
    const { on, name, ordinal: entered } = this.#deadline
    return { on, name, ordinal: entered }
  }

  async #refuseLate(): Promise<void> {
    if ((await this.#endsAt()) > this.#parts.kernel.edges.clock.now()) return
    const seconds = this.#parts.limits.runMs / 1_000
    throw new ToolError('timed_out', `The script was stopped after ${seconds} s, without the time of people.`)
  }

  /** When its time is over, if no person is waited for from now on. */
  async #endsAt(): Promise<number> {
    const { work, limits, kernel } = this.#parts
    const began = work.record.firstStarted?.at ?? work.record.createdAt
    const now = kernel.edges.clock.now()
    if (began + limits.runMs > now) return began + limits.runMs
    const calls = await this.#below([this.#pid])
    const started = await this.#below(calls.map(({ pid }) => pid))
    return began + limits.runMs + humanMs([...calls, ...started], now)
  }

  async #below(parent: readonly Pid[]): Promise<readonly ProcessRecord[]> {
    if (parent.length === 0) return []
    const { store } = this.#parts.kernel.edges
    const found: ProcessRecord[] = []
    for (let after: number | null = null; ; ) {
      const asked = { filter: { parent: [...parent] }, after, limit: PAGE_PROCESSES }
      const page: Page<ProcessRow> = await store.ask({ ask: 'processes', ...asked })
      found.push(...page.items.map(({ record }) => record))
      after = page.next
      if (after === null) return found
    }
  }

  async #readLog(): Promise<void> {
    const { store } = this.#parts.kernel.edges
    for (;;) {
      const asked = { pid: this.#pid, after: this.#cursor, limit: PAGE_EVENTS, bytes: PAGE_BYTES }
      const events = await store.ask({ ask: 'events', ...asked })
      for (const event of events) {
        const known = knownEvent(event)
        if (known?.type !== 'wait_left' || known.payload.on !== 'child') continue
        const refused = refusalIn(known.payload.value)
        this.#ends.set(known.payload.name, { seq: event.seq, at: event.at, refused })
      }
      const last = events.at(-1)
      if (last === undefined) return
      this.#cursor = last.seq
      if (events.length < PAGE_EVENTS) return
    }
  }

  async #pidOf(n: number): Promise<Pid> {
    return this.#parts.kernel.edges.pidForKey(`process:${this.#pid}`, scriptCallKey(n))
  }
}

/** An error of the thread is the end of the script: it used more than it may. */
async function computed(computing: Promise<Stretch>): Promise<Stretch> {
  try {
    return await computing
  } catch (error) {
    return { type: 'failed', reason: error instanceof Error ? error.message : String(error), printed: '' }
  }
}
