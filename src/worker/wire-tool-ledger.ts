import { Nudge } from '../base/nudge.ts'
import { RefusedError } from '../core/errors.ts'
import type { Json } from '../core/json/json.ts'
import { knownEvent, type StoredEvent } from '../core/process/event.ts'
import { type WaitRef, waitLeftKey } from '../core/process/intent.ts'
import { refusal } from '../core/refusal.ts'
import type { Attempt } from '../kernel/attempt.ts'
import type { Answered } from '../kernel/await-answer.ts'
import type { ToolLedger } from '../tool/ledger.ts'
import type { Reeve } from '../verbs/reeve.ts'
import type { AttemptWriter } from '../workflow/attempt-writer.ts'
import type { Ledger } from '../workflow/ledger.ts'

/** How long one request may wait for a process to end; then the next one follows. */
const WAIT_MS = 60_000
/** A wait without a deadline looks again after this time, in case that a nudge was lost. */
const LOOK_AGAIN_MS = 60_000

/** The ledger of one tool call that a worker executes for a daemon. A daemon that is away is asked again until it answers. */
export function wireToolLedger(
  reeve: Reeve,
  attempt: Attempt,
  ledger: Ledger,
  writer: AttemptWriter,
): ToolLedger {
  const { record, signal, clock } = ledger
  const { pid } = record
  const self = reeve.as(`process:${pid}`)
  const log = new WaitLog(ledger)
  let appended = 0

  /** Calls `look` after each event of the process, until it returns an answer. Others may have the slot meanwhile. */
  const untilFound = async <Answer>(
    look: () => Promise<Answer | undefined>,
    untilMs: () => number = () => LOOK_AGAIN_MS,
  ): Promise<Answer> => {
    const nudge = new Nudge()
    const wake = () => nudge.give()
    const off = ledger.onEvents(wake)
    const takeSlotBack = ledger.lendSlot()
    signal.addEventListener('abort', wake)
    try {
      for (;;) {
        signal.throwIfAborted()
        const found = await writer.retryUntilDone(look)
        if (found !== undefined) return found
        await nudge.within(Math.min(LOOK_AGAIN_MS, Math.max(0, untilMs())))
      }
    } finally {
      signal.removeEventListener('abort', wake)
      takeSlotBack()
      off()
    }
  }

  return {
    record,
    signal,
    now: () => clock.now(),
    async write(intent) {
      // Without a key a repeated request would append twice.
      appended += 1
      const written = await writer.write(
        intent.type === 'append' && intent.replayKey === null
          ? { ...intent, replayKey: `append:${attempt.fenceNumber}:${appended}` }
          : intent,
      )
      return { isReplayed: written.type === 'replayed' }
    },
    spawn: (request, number) =>
      writer.retryUntilDone(async () => {
        const { holder, fence } = attempt.fence()
        const act = { type: 'spawn_child', request, number } as const
        const answer = await reeve.doWork({ worker: holder, pid, fence, act })
        if (answer.type !== 'child') throw new Error(`spawn_child was answered with ${answer.type}`)
        return answer.record
      }),
    async waitForEnd(other) {
      const takeSlotBack = ledger.lendSlot()
      try {
        for (;;) {
          signal.throwIfAborted()
          const waited = await writer.retryUntilDone(() =>
            self.wait({ pid: other, timeoutMs: WAIT_MS }, { signal }),
          )
          if (waited.type === 'ended') return waited.record
        }
      } finally {
        takeSlotBack()
      }
    },
    async waitForAnswer(wait, asUntil) {
      const until =
        asUntil === null ? null : ((await writer.retryUntilDone(() => log.deadlineOf(wait))) ?? asUntil)
      const entered = await writer.write({ type: 'enter_wait', wait, until })
      if (entered.type === 'replayed') return log.answerIn(entered.event)
      return untilFound<Answered>(
        async () => {
          const left = await log.leftOf(wait)
          if (left !== undefined) return log.answerIn(left)
          if (until === null || clock.now() < until) return undefined
          const how = wait.on === 'timer' ? 'due' : 'timed_out'
          const written = await ledger.write({ type: 'leave_wait', wait, how, value: null })
          if (written.type === 'replayed') return log.answerIn(written.event)
          return how === 'due' ? { type: 'answered', value: null } : { type: 'timed_out' }
        },
        () => (until === null ? LOOK_AGAIN_MS : until - clock.now()),
      )
    },
    sendMessage: (sending) => writer.retryUntilDone(() => ledger.sendMessage(sending)),
    keyFor: (wait) => writer.retryUntilDone(() => ledger.keyFor(wait)),
    charge: (charging) => writer.retryUntilDone(() => ledger.charge(charging)),
    untilResumed: async () => {
      await untilFound(async () => {
        const { status } = await self.show({ pid })
        return status === 'paused' ? undefined : status
      })
    },
  }
}

/** The waits of one process, from its events. They are read unmasked, each once. */
class WaitLog {
  readonly #ledger: Ledger
  readonly #deadlines = new Map<string, number | null>()
  readonly #left = new Map<string, StoredEvent>()
  /** What signals and messages brought, by `seq`. */
  readonly #sent = new Map<number, Json>()
  #seen = 0

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  /** The deadline that the first attempt set; null if it entered no such wait. */
  async deadlineOf(wait: WaitRef): Promise<number | null> {
    await this.#read()
    return this.#deadlines.get(waitLeftKey(wait)) ?? null
  }

  /** The event that ended the wait, if it has ended. */
  async leftOf(wait: WaitRef): Promise<StoredEvent | undefined> {
    await this.#read()
    return this.#left.get(waitLeftKey(wait))
  }

  async answerIn(event: StoredEvent): Promise<Answered> {
    const known = knownEvent(event)
    if (known?.type !== 'wait_left') throw new Error(`Event ${event.seq} of ${event.pid} is no end of a wait`)
    const { how, value, signalSeq, messageSeq = null } = known.payload
    if (how === 'timed_out') return { type: 'timed_out' }
    const seq = how === 'signal' ? signalSeq : how === 'message' ? messageSeq : null
    if (seq === null) return { type: 'answered', value }
    await this.#read()
    const sent = this.#sent.get(seq)
    if (sent === undefined)
      throw new RefusedError(
        refusal('pruned_pid', `${event.pid} ended and has been pruned.`, 'Stop working on it.'),
      )
    return { type: 'answered', value: sent }
  }

  async #read(): Promise<void> {
    for (;;) {
      const { events, isLast } = await this.#ledger.events(this.#seen)
      for (const event of events) this.#note(event)
      this.#seen = Math.max(this.#seen, events.at(-1)?.seq ?? 0)
      if (isLast) return
    }
  }

  #note(event: StoredEvent): void {
    const known = knownEvent(event)
    if (known?.type === 'wait_entered') {
      const key = waitLeftKey(known.payload)
      if (!this.#deadlines.has(key)) this.#deadlines.set(key, known.payload.until)
    }
    if (known?.type === 'wait_left' && event.replayKey !== null) this.#left.set(event.replayKey, event)
    if (event.type === 'message_received') this.#sent.set(event.seq, event.payload)
    if (event.type.startsWith('signal.'))
      this.#sent.set(event.seq, (event.payload as { readonly value: Json }).value)
  }
}
